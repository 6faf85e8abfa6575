"""Training marks as tables have them: booleans, zeros and ones, or words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu.errors import InputError
from herald_gpu.io.frames import some

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

Part = Literal["train", "validation", "test", "unused"]
PARTS: tuple[Part, ...] = ("train", "validation", "test", "unused")
PAIRS: dict[str, dict[str, Part]] = {
    "0/1": {"1": "train", "0": "unused"},
    "true/false": {"true": "train", "false": "unused"},
    "yes/no": {"yes": "train", "no": "unused"},
    "y/n": {"y": "train", "n": "unused"},
}
"""Words for nodes that are for training and for those that are not."""
SPLIT_WORDS: dict[str, Part] = {
    **dict.fromkeys(("train", "training", "tr"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("unused", "none"), "unused"),
}
VOCABULARIES = {**PAIRS, "words": SPLIT_WORDS}
MOST_WORDS = 32
"""A column with more distinct values, in whatever case, is none of marks."""
ADVICE = "0/1, true/false, yes/no, y/n, or train/val/test (and unused)"


@dataclass(frozen=True)
class Reading:
    """How marks that are no booleans were read.

    Attributes
    ----------
    argument : str
        What to call them in messages.
    seen : list
        The distinct marks.
    counts : dict
        Number of nodes of each part.

    Examples
    --------
    >>> Reading("feats column 'train'", [0, 1], {"train": 140, "unused": 2568}).note
    "column 'train' is read as 0/1: 140 of 2708 nodes are for training"
    >>> Reading("train", ["train", "Test"], {"train": 140, "validation": 0, "test": 1000, "unused": 0}).note
    'train is read as words: 140 train, 1000 test nodes'
    """

    argument: str
    seen: list[Any]
    counts: dict[Part, int]

    @property
    def note(self) -> str:
        """What the report says about it."""
        name, counts = vocabulary_of(self.seen), self.counts
        what = self.argument.removeprefix("feats ")  # the command line knows no argument of this name
        if name != "words":
            return f"{what} is read as {name}: {counts['train']} of {sum(counts.values())} nodes are for training"
        listed = ", ".join(f"{count} {part}" for part, count in counts.items() if count)
        return f"{what} is read as words: {listed} nodes"


@dataclass(frozen=True)
class Marks:
    """Which nodes are for what.

    Attributes
    ----------
    train : bool array
    validation, test : bool arrays, optional
        Where words say so.
    reading : Reading, optional
        How the marks were read, where they are no booleans.
    """

    train: Any
    validation: Any = None
    test: Any = None
    reading: Reading | None = None

    @property
    def notes(self) -> list[str]:
        """What the report says about them."""
        return [] if self.reading is None else [self.reading.note]


def vocabulary_of(distinct: Iterable[Any]) -> str | None:
    """Name the vocabulary that all marks are words of; None if there is none.

    Examples
    --------
    >>> vocabulary_of([1.0, 0.0]), vocabulary_of(["Yes", " no"]), vocabulary_of(["Train", "dev"]), vocabulary_of([0, 2])
    ('0/1', 'yes/no', 'words', None)
    """
    words = {word(value) for value in distinct}
    return next((name for name, meanings in VOCABULARIES.items() if words <= meanings.keys()), None)


def understood(distinct: list[Any]) -> bool:
    """Tell whether marks can be read."""
    return 0 < len(distinct) <= MOST_WORDS and vocabulary_of(distinct) is not None


def word(value: object) -> str:
    """Spell a mark: booleans and whole numbers as text, all in small letters."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip().lower()


def distinct_of(values: np.ndarray | pd.Series) -> list[Any]:
    """List the distinct values; no more than can be marks, and one."""
    import pandas as pd

    try:
        found = pd.unique(values)
    except TypeError:  # lists and the like
        found = np.array([repr(value) for value in values[: MOST_WORDS + 1]])
    return np.asarray(found, dtype=object)[: MOST_WORDS + 1].tolist()


def meanings_of(distinct: list[Any], argument: str) -> tuple[str, dict[Any, Part]]:
    """Tell how marks are read: the name of their vocabulary, and what each of them means.

    Parameters
    ----------
    distinct : list
        The distinct marks; none missing.
    argument : str
        What to call them in messages.

    Raises
    ------
    InputError
        If they are not the words of one vocabulary.
    """
    name = vocabulary_of(distinct) if understood(distinct) else None
    if name is None:
        raise not_understood(distinct, argument)
    return name, {value: VOCABULARIES[name][word(value)] for value in distinct}


def not_understood(distinct: list[Any], argument: str, others: str = "") -> InputError:
    """Make the error of marks that cannot be read."""
    return InputError(
        f"{argument} has the values {some(distinct)}, which do not say which nodes are for training: write {ADVICE}"
        f"{others}"
    )


def missing_marks(count: int, argument: str) -> InputError:
    """Make the error of nodes without a mark."""
    return InputError(
        f"{argument} has {count} missing values: write false, 0 or no there, or unused beside words such as train and "
        "test, if those nodes are not for training"
    )


def read_marks(values: pd.Series, argument: str) -> Marks:
    """Read the marks of nodes, in the order of rows.

    Parameters
    ----------
    values : Series
    argument : str
        What to call them in messages.
    """
    import pandas as pd

    n_missing = int(values.isna().sum())
    if n_missing:
        raise missing_marks(n_missing, argument)
    if pd.api.types.is_bool_dtype(values.dtype):
        return Marks(values.to_numpy(dtype=bool))
    distinct = distinct_of(values)
    if distinct and all(isinstance(value, bool | np.bool_) for value in distinct):
        return Marks(values.to_numpy(dtype=bool))
    if not distinct:  # an empty partition
        return Marks(np.zeros(0, dtype=bool))
    name, meanings = meanings_of(distinct, argument)
    masks = {part: values.isin([value for value, said in meanings.items() if said == part]) for part in PARTS}
    return marked(name, {part: mask.to_numpy(dtype=bool) for part, mask in masks.items()}, distinct, argument)


def marked(name: str, masks: dict[Part, Any], distinct: list[Any], argument: str) -> Marks:
    """Put the masks of all parts together, with how they were read."""
    reading = Reading(argument, distinct, {part: int(mask.sum()) for part, mask in masks.items()})
    if name != "words":
        return Marks(masks["train"], reading=reading)
    return Marks(masks["train"], masks["validation"], masks["test"], reading)


def together(readings: list[Reading]) -> Reading | None:
    """Put together how partitions of one column were read; None if all hold booleans.

    Raises
    ------
    InputError
        If their marks are not the words of one vocabulary.
    """
    if not readings:
        return None
    seen = list(dict.fromkeys(value for one in readings for value in one.seen))
    meanings_of(seen, readings[0].argument)
    counts = {part: sum(one.counts[part] for one in readings) for part in PARTS}
    return Reading(readings[0].argument, seen, counts)
