"""Labels and training marks, whatever they come as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io import marks
from herald_gpu.io.frames import some
from herald_gpu.io.kinds import kind_of
from herald_gpu.io.matrices import to_numpy
from herald_gpu.io.networks import as_ids

if TYPE_CHECKING:
    import pandas as pd

    from herald_gpu.io.marks import Marks

FEWEST_MASKED = 3
"""A vector of zeros and ones for fewer nodes may as well hold their ids."""
FRACTIONAL = ("floating", "mixed-integer-float", "decimal")
"""What pandas calls values that may be regression targets."""
WHOLE = {int, str, bool}
"""Types of values that are none."""
NESTED = (list, tuple, set, frozenset, dict, np.ndarray)
"""Types of values that hold several."""


def aligned(values: Any, ids: np.ndarray, argument: str) -> pd.Series | np.ndarray:  # noqa: ANN401 - any vector
    """Bring a vector with one entry a node to the row order of `ids`.

    A Series (or table of one column) whose index holds the node ids is matched by id; anything else, and a
    Series with the default index, is taken in row order.
    """
    plain = values.to_pandas() if kind_of(values) == "cudf" else values
    if _is_pandas(plain, "DataFrame") and plain.shape[1] == 1:
        plain = plain.iloc[:, 0]
    entries = plain if _is_pandas(plain, "Series") else _to_vector(plain, argument)
    if entries.ndim == 0:
        msg = f"{argument} is a single {type(values).__name__}: pass one entry a node"
        raise InputError(msg)
    if len(entries) != len(ids):
        msg = f"{argument} has {len(entries)} entries but there are {len(ids)} nodes: pass one a node"
        raise InputError(msg)
    return entries if isinstance(entries, np.ndarray) else _by_id(entries, ids, argument)


def _to_vector(values: Any, argument: str) -> np.ndarray:  # noqa: ANN401 - any vector
    try:
        return to_numpy(values)
    except ValueError as error:  # lists of several lengths
        raise nested(argument) from error


def nested(argument: str) -> UnsupportedInputError:
    """Make the error of labels that are lists."""
    return UnsupportedInputError(
        f"{argument} holds lists or the like: multi-label targets are not supported, pass one class a node"
    )


def _is_pandas(value: Any, name: str) -> bool:  # noqa: ANN401 - any object
    """Tell a Series or DataFrame; what is neither does not cost the import of pandas."""
    if kind_of(value) != "pandas":
        return False
    import pandas as pd

    return isinstance(value, getattr(pd, name))


def _by_id(series: pd.Series, ids: np.ndarray, argument: str) -> pd.Series:
    import pandas as pd

    if not series.index.equals(pd.RangeIndex(len(series))) and not series.index.equals(pd.Index(ids)):
        places = series.index.get_indexer(pd.Index(ids)) if series.index.is_unique else np.array([-1])
        if (places < 0).any():
            msg = f"{argument} has an index that does not hold the node ids: give it that index, or pass .to_numpy()"
            raise InputError(msg)
        series = series.iloc[places]
    return series.reset_index(drop=True)


def read_labels(values: pd.Series | np.ndarray, unlabelled: Any, argument: str) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401
    """Split labels into (values, known): null and `unlabelled` mean unknown."""
    if values.ndim > 1:
        if values.shape[1] != 1:
            msg = f"{argument} has shape {values.shape}: multi-label targets are not supported, pass one class a node"
            raise UnsupportedInputError(msg)
        values = np.asarray(values)[:, 0]
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and type(unlabelled) in (int, type(None)):
        known = np.ones(len(values), dtype=bool) if unlabelled is None else values != unlabelled
        return values.astype(object), known
    import pandas as pd

    series = pd.Series(values).reset_index(drop=True)
    entries = series.astype(object).to_numpy()
    if any(issubclass(kind, NESTED) for kind in set(map(type, entries))):
        raise nested(argument)
    known = series.notna().to_numpy(dtype=bool)
    if unlabelled is not None:
        known = known & ~(series == unlabelled).fillna(value=False).to_numpy(dtype=bool)
    return entries, known


def count_named(values: np.ndarray, known: np.ndarray) -> int:
    """Count the nodes that are unlabelled by their value, not by a missing one."""
    unknown = values[~known]
    if set(map(type, unknown)) <= WHOLE:  # no need of pandas, which takes long to import
        return len(unknown)
    import pandas as pd

    return int(pd.notna(unknown).sum())


def unlabelled_note(count: int, unlabelled: object, *, marked: bool) -> list[str]:
    """Say how many nodes were taken as unlabelled, and for which value.

    Where training nodes are `marked`, labels of the others are not read, and nothing is said about them.

    Examples
    --------
    >>> unlabelled_note(203, -1, marked=False)
    ['203 nodes have the label -1 and count as unlabelled']
    """
    told = count > 0 and not marked
    return [f"{count} nodes have the label {_plain(unlabelled)!r} and count as unlabelled"] if told else []


def unlabelled_hint(count: int, unlabelled: object) -> str:
    """Explain labels that are missed because they mean unknown: the end of a message."""
    if count == 0:
        return ""
    value = repr(_plain(unlabelled))
    return f"; {count} nodes have the label {value}, which means unlabelled: pass unlabelled=None if it is a class"


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def encode_classes(
    values: np.ndarray, known: np.ndarray, train: np.ndarray, argument: str, hint: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Number the classes that occur among training nodes: (codes, class values).

    Values that occur only outside the training set are unknown (-1): nothing here depends on them. `hint` ends the
    message where labels are missed.
    """
    check_marks(int(known.sum()), int(train.sum()), int((train & ~known).sum()), argument, hint)
    classes, codes = distinct_classes(values[train], argument, hint)
    every = np.full(len(values), -1, dtype=np.int32)
    every[train] = codes
    rest = known & ~train
    every[rest] = _numbers(classes, values[rest])
    return every, plain_classes(classes)


def _numbers(classes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Number of each value's class; -1 where it is none of them."""
    kinds = set(map(type, classes)) | set(map(type, values))
    if kinds in ({int}, {str}):  # as nearly always: pandas takes longer to import than a small graph to condense
        place = {value: number for number, value in enumerate(classes)}
        return np.fromiter((place.get(value, -1) for value in values), dtype=np.int64, count=len(values))
    import pandas as pd

    return pd.Index(classes).get_indexer(values)


def check_marks(n_known: int, n_train: int, n_blind: int, argument: str, hint: str = "") -> None:
    """Refuse a graph without labels or training nodes, or with training nodes (`n_blind`) that have no label."""
    if n_known == 0:
        msg = f"{argument} has no labelled node: at least two classes with a training node are needed{hint}"
        raise InputError(msg)
    if n_train == 0:
        msg = "train marks no node: at least one training node of two classes is needed"
        raise InputError(msg)
    if n_blind:
        msg = f"train marks {n_blind} nodes without a label: label them or leave them out{hint}"
        raise InputError(msg)


def distinct_classes(seen: np.ndarray, argument: str, hint: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Find the classes among the labels of training nodes: (ascending classes, number of each label's)."""
    if not set(map(type, seen)) <= WHOLE and _pandas_type(seen) in FRACTIONAL:
        seen = _whole(seen, argument)
    try:
        classes, codes = np.unique(seen, return_inverse=True)
    except TypeError as error:
        msg = f"{argument} mixes types that do not compare: use one type for all classes"
        raise InputError(msg) from error
    if len(classes) == 1:
        msg = f"{argument} has one class only among training nodes ({classes[0]!r}): at least two are needed{hint}"
        raise InputError(msg)
    return classes, codes


def _pandas_type(values: np.ndarray) -> str:
    import pandas as pd

    return pd.api.types.infer_dtype(values, skipna=False)


def _whole(seen: np.ndarray, argument: str) -> np.ndarray:
    """Turn class numbers that came as floats (as they do beside missing values) into integers."""
    numbers = seen.astype(np.float64)
    odd = numbers[~np.isfinite(numbers) | (numbers != np.round(numbers))]
    if len(odd):
        msg = f"{argument} has values such as {odd[0]}: regression targets are not supported, pass whole class numbers"
        raise UnsupportedInputError(msg)
    return numbers.astype(np.int64).astype(object)


def plain_classes(classes: np.ndarray) -> np.ndarray:
    """Give class values their natural dtype (integers, booleans, strings)."""
    plain = np.asarray(classes.tolist())
    return plain if plain.dtype.kind in "biuU" else classes


def train_vector(train: Any) -> Any:  # noqa: ANN401 - a mask, ids, or a collection of either
    """Put lists, tuples and sets of marks or ids into an array."""
    if not isinstance(train, list | tuple | set | frozenset):
        return train
    listed = list(train)
    return as_ids(listed) if listed and isinstance(listed[0], tuple) else np.asarray(listed)


def read_train(train: Any, ids: np.ndarray, argument: str) -> Marks:  # noqa: ANN401 - mask or ids
    """Read training marks: a mask with one entry a node (booleans, zeros and ones, or words), or node ids."""
    train = train_vector(train)
    plain = to_numpy(train)
    if plain.ndim != 1:
        msg = f"{argument} has shape {plain.shape}: pass a boolean mask of length {len(ids)}, or node ids"
        raise InputError(msg)
    if len(plain) == 0:
        return marks.Marks(np.zeros(len(ids), dtype=bool))
    if plain.dtype.kind == "b":
        return marks.Marks(np.asarray(aligned(train, ids, argument)).astype(bool))
    import pandas as pd

    missing = pd.isna(plain)
    if missing.any():
        msg = f"{argument} has {int(missing.sum())} missing values: pass booleans, or node ids, without any"
        raise InputError(msg)
    booleans = pd.api.types.infer_dtype(plain) == "boolean"
    if booleans or _is_mask(plain, ids):
        return marks.read_marks(pd.Series(np.asarray(aligned(train, ids, argument))), argument)
    if plain.dtype.kind == "f":
        raise marks.not_understood(pd.unique(plain).tolist(), argument, ", or node ids")
    places = pd.Index(ids).get_indexer(plain)
    if (places < 0).any():
        lost = plain[places < 0]
        msg = f"{argument} names {len(lost)} nodes that feats does not have, such as {some(lost)}: correct them"
        raise InputError(msg)
    mask = np.zeros(len(ids), dtype=bool)
    mask[places] = True
    return marks.Marks(mask)


def _is_mask(values: np.ndarray, ids: np.ndarray) -> bool:
    """Tell zeros and ones, or words, with one entry a node from ids."""
    return len(values) == len(ids) >= FEWEST_MASKED and marks.understood(marks.distinct_of(values))
