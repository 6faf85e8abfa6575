"""Labels, training sets and features of a synthetic graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

# Numbers drawn or changed at a time.
CHUNK = 1 << 22
# Word frequencies fall as 1 / (rank + shift); the shift keeps the first words from filling every document.
ZIPF_SHIFT = 3.0
# Log ratio of word frequencies per unit of signal, set so that both kinds of features tell about as much.
WORD_TILT = 0.3


@dataclass(frozen=True)
class FeatureLaw:
    """How features follow from classes; the fields are options of `make_graph`."""

    n_classes: int
    n_features: int
    signal: float
    informative_share: float

    def draw_directions(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw a Gaussian row per class, zero on the features that tell nothing."""
        rows = rng.standard_normal((self.n_classes, self.n_features))
        silent = rng.permutation(self.n_features)[max(1, round(self.informative_share * self.n_features)) :]
        rows[:, silent] = 0.0
        return rows


def draw_labels(rng: np.random.Generator, n_nodes: int, n_classes: int, class_imbalance: float) -> NDArray[np.int64]:
    """Draw labels; a class has ``1 - class_imbalance`` times the nodes of the one before it, at least two."""
    shares = (1.0 - class_imbalance) ** np.arange(n_classes)
    counts = 2 + np.floor(shares / shares.sum() * (n_nodes - 2 * n_classes)).astype(np.int64)
    counts[0] += n_nodes - counts.sum()
    return rng.permutation(np.repeat(np.arange(n_classes), counts))


def draw_training(
    rng: np.random.Generator, labels: NDArray[np.int64], n_classes: int, train_share: float
) -> NDArray[np.bool_]:
    """Draw the same share of every class, and at least one node of each."""
    sizes = np.bincount(labels, minlength=n_classes)
    quota = np.maximum(1, np.rint(train_share * sizes)).astype(np.int64)
    order = np.lexsort((rng.random(labels.size), labels))
    rank = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    train = np.zeros(labels.size, dtype=bool)
    train[order] = rank < quota[labels[order]]
    return train


def dense_features(rng: np.random.Generator, labels: NDArray[np.int64], law: FeatureLaw) -> NDArray[np.float32]:
    """Unit Gaussian noise around class means that lie `signal` away from the origin."""
    means = law.draw_directions(rng)
    means *= law.signal / np.linalg.norm(means, axis=1, keepdims=True)
    means32 = means.astype(np.float32)
    x = np.empty((labels.size, law.n_features), dtype=np.float32)
    rng.standard_normal(dtype=np.float32, out=x)
    rows = max(1, CHUNK // law.n_features)
    for start in range(0, labels.size, rows):
        x[start : start + rows] += means32[labels[start : start + rows]]
    return x


def word_features(rng: np.random.Generator, labels: NDArray[np.int64], law: FeatureLaw, mean_words: float) -> csr_array:
    """Binary bags of words; each class tilts a common Zipf law by log-normal factors."""
    from scipy.sparse import csr_array

    n_features = law.n_features
    zipf = rng.permutation(1.0 / (np.arange(n_features) + ZIPF_SHIFT))
    tilt = WORD_TILT * law.signal * law.draw_directions(rng)
    shares = zipf * np.exp(tilt - tilt.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)

    tokens = rng.poisson(_token_rates(shares, mean_words)[labels])
    # Class c owns the stretch (c, c + 1], so that one search serves all classes.
    stretches = (np.cumsum(shares, axis=1) + np.arange(law.n_classes)[:, None]).ravel()
    ends = np.cumsum(tokens)
    cuts = np.searchsorted(ends, np.arange(CHUNK, int(ends[-1]) + CHUNK, CHUNK), side="right")
    indices, counts = [np.empty(0, dtype=np.int64)], np.zeros(labels.size + 1, dtype=np.int64)
    start = 0
    for stop in np.unique([*cuts, labels.size]).tolist():
        rows = np.repeat(np.arange(start, stop), tokens[start:stop])
        own = labels[rows]
        words = np.searchsorted(stretches, own + rng.random(rows.size), side="right") - own * n_features
        keys = np.unique(rows * n_features + np.clip(words, 0, n_features - 1))
        indices.append(keys % n_features)
        counts[start + 1 : stop + 1] = np.bincount(keys // n_features - start, minlength=stop - start)
        start = stop
    columns = np.concatenate(indices)
    data = np.ones(columns.size, dtype=np.float32)
    return csr_array((data, columns, np.cumsum(counts)), shape=(labels.size, n_features))


def _token_rates(shares: NDArray[np.float64], mean_words: float) -> NDArray[np.float64]:
    """Poisson rate per class at which the expected number of *distinct* words is `mean_words`."""
    low, high = np.zeros(len(shares)), np.full(len(shares), mean_words)

    def distinct(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        return -np.expm1(-rates[:, None] * shares).sum(axis=1)

    while (short := distinct(high) < mean_words).any():
        high[short] *= 2
    for _ in range(50):
        middle = (low + high) / 2
        short = distinct(middle) < mean_words
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
