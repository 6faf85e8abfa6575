"""Every error a user can meet.

All derive from :class:`HeraldError`; those that answer a bad argument are `ValueError` or `TypeError` too, so
that callers who know nothing of this package can still catch them. A message names the argument, says what
was seen, and says what to do.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class HeraldError(Exception):
    """Base of all errors raised on purpose by this package."""


class InputError(HeraldError, ValueError):
    """The graph, features, labels or training set cannot be used as given."""


class UnsupportedInputError(HeraldError, TypeError):
    """A kind of input that is refused by name (heterogeneous graph, multi-label target, ...)."""


class ColumnError(InputError):
    """A named column is missing, or the same thing was given twice."""


class DeviceError(InputError):
    """Arguments live on different devices."""


class ConfigError(HeraldError, ValueError):
    """An option has a value outside its range."""


class BudgetError(HeraldError, ValueError):
    """The storage budget cannot hold one training node of every class.

    Attributes
    ----------
    smallest_ratio : float
        The smallest feasible `ratio` for this graph and configuration.
    """

    def __init__(self, message: str, *, smallest_ratio: float) -> None:
        super().__init__(message)
        self.smallest_ratio = smallest_ratio

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), smallest_ratio=self.smallest_ratio), self.args, vars(self)


class BackendUnavailable(HeraldError, RuntimeError):  # noqa: N818 - the state is the message, as in concurrent.futures
    """The backend asked for cannot run on this machine; the message gives the reason."""


class StageError(HeraldError):
    """A stage cannot go on.

    Attributes
    ----------
    stage : str
        Where it happened.
    """

    def __init__(self, message: str, *, stage: str) -> None:
        super().__init__(message)
        self.stage = stage

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), stage=self.stage), self.args, vars(self)


class OutOfMemory(StageError, MemoryError):  # noqa: N818 - as MemoryError itself
    """The device has no room for what a stage needs; the message says what helps."""


class ClusterError(StageError, RuntimeError):
    """Dask workers or their scheduler cannot go on; the message says where it happened and what helps."""


class FileFormatError(HeraldError, ValueError):
    """A file is corrupt, or is not a saved condensed graph."""


class MissingDependencyError(HeraldError, ImportError):
    """An optional library is needed for what was asked; the message names the pip line."""


class DatasetError(HeraldError, OSError):
    """A data set cannot be had here, or is not what it should be; the message says where it comes from."""


class TargetsMissed(HeraldError):  # noqa: N818 - the state is the message
    """A benchmark that was to be checked misses a target; the message says which."""
