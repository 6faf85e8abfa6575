"""A short mark of a set of node ids, to tell whether two sets are the same one."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def fingerprint(ids: Any) -> str:  # noqa: ANN401 - an array of ids of any type
    """Give the SHA-256 of a set of ids, whatever their order and the width of their type.

    Parameters
    ----------
    ids : array
        Numbers, or anything that can be written as text.

    Examples
    --------
    >>> fingerprint(np.array([3, 1])) == fingerprint(np.array([1, 3], dtype=object))
    True
    >>> fingerprint(np.array([3, 1])) == fingerprint(np.array(["3", "1"]))
    False
    """
    plain = np.asarray(ids)
    if plain.dtype == object and all(type(value) is int for value in plain.tolist()):
        plain = np.asarray(plain.tolist())
    if plain.dtype.kind in "iu":
        return hashlib.sha256(np.sort(plain).astype("<i8").tobytes()).hexdigest()
    words = sorted(map(str, plain.tolist()))
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
