"""Ridge regressions on dense float64 matrices, by least squares: what trials count, in another way."""

from __future__ import annotations

import numpy as np

from herald_gpu.stages.trials import LEARNERS, PENALTIES


def dense_adjacency(given):
    adjacency = np.zeros((given.n, given.n))
    for u, v in given.edges:
        if u != v:
            adjacency[u, v] = adjacency[v, u] = 1
    return adjacency


def seen(adjacency, x):
    """What each learner sees of all nodes."""
    degree = adjacency.sum(axis=1, keepdims=True)
    loops = adjacency + np.eye(len(x))
    mean = loops / (degree + 1)
    around = np.divide(adjacency, degree, out=np.zeros_like(adjacency), where=degree > 0)
    return {"mean": mean @ mean @ x, "around": np.hstack([x, around @ x]), "total": loops @ loops @ x}


def ridge(rows, wanted, penalty):
    """Minimise the squared error and the penalty, intercept included: as one system of least squares."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    scale = (rows**2).sum() / len(rows)
    below = np.sqrt(penalty * scale) * np.eye(rows.shape[1])
    stacked = np.vstack([rows, below]), np.vstack([wanted, np.zeros((len(below), wanted.shape[1]))])
    return np.linalg.lstsq(*stacked, rcond=None)[0]


def right_answers(learnt, codes, parts, nodes, truth, n_classes):
    """Right answers of every learner and penalty; answers must not be too close to call."""
    rows = np.flatnonzero(codes >= 0)
    wanted = np.eye(n_classes)[codes[rows]]
    asked = {
        "mean": parts["mean"][nodes],
        "around": np.hstack([parts["own"][nodes], parts["around"][nodes]]),
        "total": parts["total"][nodes],
    }
    counts = np.zeros((len(LEARNERS), len(PENALTIES)))
    for i, (name, _) in enumerate(LEARNERS):
        for j, penalty in enumerate(PENALTIES):
            weights = ridge(learnt[name][rows], wanted, penalty)
            answer = np.hstack([asked[name], np.ones((len(nodes), 1))]) @ weights
            best = np.sort(answer, axis=1)
            assert (best[:, -1] - best[:, -2]).min() > 1e-6
            counts[i, j] = (answer.argmax(axis=1) == truth).sum()
    return counts
