"""The scikit-learn estimator: scikit-learn's own checks, pipelines, clones and searches."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from numpy.testing import assert_array_equal
from outcomes import RATIO, small_graph
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from herald_gpu import HeraldCondenser, HeraldConfig, condense
from herald_gpu.datasets import make_graph
from herald_gpu.errors import BudgetError, ConfigError, InputError

GRAPH = small_graph()
X, EDGES, TRAIN = GRAPH.features, GRAPH.edge_index, GRAPH.train
Y = np.where(TRAIN, GRAPH.labels, -1)
LARGER = make_graph(300, n_classes=3, n_features=24, seed=4)


class OnAPath(HeraldCondenser):
    """Join the rows to a path where no edges are given: the checks of scikit-learn know no graphs."""

    def __init__(
        self, ratio=0.9, *, unlabelled=None, scale="auto", config=None, backend="cpu", random_state=0, verbose=False
    ):
        super().__init__(
            ratio,
            unlabelled=unlabelled,
            scale=scale,
            config=config,
            backend=backend,
            random_state=random_state,
            verbose=verbose,
        )

    def fit(self, X, y=None, *, edges=None, train=None):
        rows = np.arange((X if scipy.sparse.issparse(X) else np.asarray(X)).shape[0])
        return super().fit(X, y, edges=np.stack([rows[:-1], rows[1:]]) if edges is None else edges, train=train)


@parametrize_with_checks([OnAPath()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_checks_of_scikit_learn_that_know_no_edges():
    """Without the path a check passes if it fits nothing; all others stop at the argument that they do not give."""
    found = {"passed": set(), "failed": set(), "skipped": set()}
    for result in check_estimator(HeraldCondenser(), on_fail=None, on_skip=None):
        found[result["status"]].add(result["check_name"])
        error = result["exception"]
        if result["status"] == "failed":
            assert "'edges'" in f"{error} {error.__cause__} {error.__context__}", result["check_name"]
    assert found["skipped"] <= {"check_array_api_input"}
    assert {"check_estimator_cloneable", "check_estimator_repr", "check_get_params_invariance"} <= found["passed"]
    assert {"check_fit_idempotent", "check_transformer_general"} <= found["failed"]


@pytest.fixture(scope="module")
def fitted():
    return HeraldCondenser(ratio=RATIO).fit(X, Y, edges=EDGES)


def test_the_condensed_graph_is_that_of_condense(fitted):
    expected = condense(EDGES, X, GRAPH.labels, TRAIN, ratio=RATIO)
    assert_array_equal(fitted.condensed_.node_ids, expected.node_ids)
    assert_array_equal(fitted.condensed_.features, expected.features)
    assert_array_equal(fitted.transform(X), expected.transform(X))
    assert_array_equal(fitted.feature_indices_, expected.feature_ids)
    assert fitted.n_features_in_ == X.shape[1]


def test_training_nodes_may_be_given_apart(fitted):
    for train in (TRAIN, np.flatnonzero(TRAIN)):
        found = HeraldCondenser(ratio=RATIO).fit(X, GRAPH.labels, edges=EDGES, train=train)
        assert_array_equal(found.condensed_.node_ids, fitted.condensed_.node_ids)


def test_edges_may_be_a_matrix_or_a_table(fitted):
    adjacency = scipy.sparse.coo_matrix((np.ones(EDGES.shape[1]), EDGES), shape=(len(X), len(X))).tocsr()
    for edges in (adjacency, pd.DataFrame(EDGES.T, columns=["src", "dst"])):
        found = HeraldCondenser(ratio=RATIO).fit(X, Y, edges=edges)
        assert_array_equal(found.condensed_.features, fitted.condensed_.features)


def test_labels_may_be_text():
    names = np.array(["a", "b", "c"], dtype=object)[GRAPH.labels]
    names[~TRAIN] = ""
    found = HeraldCondenser(ratio=RATIO, unlabelled="").fit(X, names, edges=EDGES)
    assert list(found.condensed_.report.class_counts) == ["a", "b", "c"]


def test_sparse_features_stay_sparse():
    words = small_graph("bag_of_words")
    found = HeraldCondenser(ratio=RATIO).fit(words.features, words.labels, edges=words.edge_index)
    assert scipy.sparse.issparse(found.transform(words.features))
    assert_array_equal(found.transform(words.features).toarray(), found.transform(words.features.toarray()))


def test_which_features_were_kept():
    found = HeraldCondenser(ratio=RATIO, config=HeraldConfig(feature_count=4)).fit(X, Y, edges=EDGES)
    kept = found.get_support(indices=True)
    assert len(kept) == 4
    assert_array_equal(np.flatnonzero(found.get_support()), kept)
    assert found.get_support().shape == (6,)
    assert found.get_feature_names_out().tolist() == [f"x{place}" for place in kept]
    names = list("abcdef")
    assert found.get_feature_names_out(names).tolist() == [names[place] for place in kept]


def test_names_of_columns_go_through():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    found = HeraldCondenser(ratio=RATIO, config=HeraldConfig(feature_count=4)).set_output(transform="pandas")
    out = found.fit_transform(frame, Y, edges=EDGES)
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert out.columns.tolist() == frame.columns[found.get_support()].tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(frame.rename(columns={"a": "z"}))


def test_components_have_names_of_their_own():
    config = HeraldConfig(pca_variance=0.5, storage="dense")
    found = HeraldCondenser(ratio=0.9, config=config).fit(X, Y, edges=EDGES)
    names = found.get_feature_names_out()
    assert names.tolist() == [f"pc{place}" for place in range(found.transform(X).shape[1])]


def test_parameters_are_only_stored():
    config = HeraldConfig(landmarks=False)
    made = HeraldCondenser(ratio="nonsense", config=config, random_state=4)
    again = clone(made)
    assert again.get_params() == made.get_params()
    assert set(made.get_params()) == {"ratio", "unlabelled", "scale", "config", "backend", "random_state", "verbose"}
    with pytest.raises(ConfigError, match="ratio='nonsense' is not valid"):
        made.fit(X, Y, edges=EDGES)
    with pytest.raises(BudgetError):
        made.set_params(ratio=1e-6).fit(X, Y, edges=EDGES)


def test_an_estimator_that_is_not_fitted_says_so():
    for ask in ("transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(HeraldCondenser(), ask)(X)
    for ask in ("get_support", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(HeraldCondenser(), ask)()


def test_edges_are_not_left_out():
    with pytest.raises(TypeError, match="edges"):
        HeraldCondenser().fit(X, Y)


def test_a_fitted_estimator_can_be_pickled(fitted):
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    assert_array_equal(again.transform(X), fitted.transform(X))
    assert_array_equal(again.condensed_.edges, fitted.condensed_.edges)


def test_a_pipeline_scales_first():
    steps = Pipeline([("scale", StandardScaler()), ("condense", HeraldCondenser(ratio=RATIO))])
    steps.fit(X, Y, condense__edges=EDGES)
    scaled = StandardScaler().fit_transform(X)
    expected = condense(EDGES, scaled.astype(np.float32), Y, ratio=RATIO)
    assert_array_equal(steps["condense"].condensed_.features, expected.features)
    assert_array_equal(steps.transform(X), expected.transform(scaled))


def test_a_model_may_follow():
    steps = make_pipeline(HeraldCondenser(ratio=RATIO), LogisticRegression())
    steps.fit(X, GRAPH.labels, heraldcondenser__edges=EDGES)
    assert steps.predict(X).shape == (len(X),)


def test_edges_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        condenser = HeraldCondenser(ratio=RATIO).set_fit_request(edges=True, train=True)
        steps = make_pipeline(StandardScaler(), condenser)
        steps.fit(X, GRAPH.labels, edges=EDGES, train=TRAIN)
    assert steps[-1].condensed_.report.storage_ratio <= RATIO


def test_the_score_is_that_of_the_chosen_trial():
    found = HeraldCondenser(ratio=0.1).fit(LARGER.features, LARGER.labels, edges=LARGER.edge_index, train=LARGER.train)
    report = found.condensed_.report
    chosen = [
        trial["score"]
        for trial in report.trials
        if (trial["rule"], trial["feature_count"]) == (report.exemplar_rule, report.feature_count)
    ]
    assert len(report.trials) > 1
    assert [found.score(LARGER.features)] == chosen


def test_without_trials_there_is_no_score():
    found = HeraldCondenser(ratio=RATIO, config=HeraldConfig.paper()).fit(X, Y, edges=EDGES)
    with pytest.raises(ConfigError, match="pass scoring= to the search"):
        found.score(X)


def test_a_search_has_all_rows_in_its_one_fold():
    rows = np.arange(LARGER.n_nodes)
    grid = {"ratio": [0.1, 0.3], "config": [HeraldConfig(), HeraldConfig(landmarks=False)]}
    search = GridSearchCV(HeraldCondenser(), grid, cv=[(rows, rows)], error_score="raise")
    search.fit(LARGER.features, LARGER.labels, edges=LARGER.edge_index, train=LARGER.train)
    scores = [
        HeraldCondenser(**options)
        .fit(LARGER.features, LARGER.labels, edges=LARGER.edge_index, train=LARGER.train)
        .score(LARGER.features)
        for options in ParameterGrid(grid)
    ]
    assert_array_equal(search.cv_results_["mean_test_score"], scores)
    assert search.best_score_ == max(scores)
    assert search.best_estimator_.condensed_.report.requested_ratio == search.best_params_["ratio"]


def test_a_search_takes_edges_of_every_kind():
    ones = np.ones(EDGES.shape[1])
    adjacency = scipy.sparse.coo_matrix((ones, EDGES), shape=(len(X), len(X))).tocsr()
    as_many_as_rows = pd.DataFrame(EDGES[:, : len(X)].T, columns=["src", "dst"])  # which scikit-learn takes for rows
    rows = np.arange(len(X))
    for edges in (adjacency, as_many_as_rows):
        search = GridSearchCV(
            HeraldCondenser(ratio=RATIO), {"random_state": [0]}, cv=[(rows, rows)], scoring=lambda *_: 1
        )
        search.fit(X, Y, edges=edges)
        alone = HeraldCondenser(ratio=RATIO).fit(X, Y, edges=edges)
        assert_array_equal(search.best_estimator_.condensed_.edges, alone.condensed_.edges)


def test_a_search_may_rank_by_a_model_that_is_trained_on_the_condensed_graph():
    def accuracy(condenser, X, y):  # noqa: ARG001 - the signature of scikit-learn
        small = condenser.condensed_
        seen = small.train_mask
        model = LogisticRegression().fit(small.features[seen], small.labels[seen])
        return model.score(condenser.transform(X)[~LARGER.train], LARGER.labels[~LARGER.train])

    rows = np.arange(LARGER.n_nodes)
    steps = make_pipeline(StandardScaler(), HeraldCondenser())
    grid = {"heraldcondenser__ratio": [0.1, 0.3]}
    search = GridSearchCV(
        steps, grid, cv=[(rows, rows)], scoring=lambda s, X, y: accuracy(s[-1], s[:-1].transform(X), y)
    )
    edges = {"heraldcondenser__edges": LARGER.edge_index, "heraldcondenser__train": LARGER.train}
    search.fit(LARGER.features, LARGER.labels, **edges)
    assert search.best_score_ > 1 / 3


def test_folds_that_take_rows_away_are_refused():
    search = GridSearchCV(HeraldCondenser(ratio=0.9), {"random_state": [0]}, cv=KFold(2), error_score="raise")
    with pytest.raises(InputError, match="edges name nodes that feats does not have"):
        search.fit(X, GRAPH.labels, edges=EDGES)
