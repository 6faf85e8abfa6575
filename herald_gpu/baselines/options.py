"""Options of the baselines: small frozen dataclasses that check their values."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from herald_gpu.errors import ConfigError

Links = Literal["induced", "expanded", "none"]
Space = Literal["raw", "propagated"]
LINKS = ("induced", "expanded", "none")
SPACES = ("raw", "propagated")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """What all methods that pick real nodes share.

    Attributes
    ----------
    links : {"induced", "expanded", "none"}
        Edges among the picked nodes; or also their neighbours up to `depth` hops, with all edges among those; or no
        edges at all, which leaves more room for nodes.
    depth : int
        Hops of `links="expanded"`.
    patience : int
        Stop after more than this many picks in a row that do not fit.
    """

    links: Links = "induced"
    depth: int = 1
    patience: int = 100

    def __post_init__(self) -> None:
        require("links", self.links, self.links in LINKS, f"one of {LINKS}")
        require_int("depth", self.depth, 1)
        require_int("patience", self.patience, 0)


@dataclass(frozen=True, kw_only=True)
class SpaceOptions(NodeOptions):
    """Options of the methods that compare nodes.

    Attributes
    ----------
    space : {"raw", "propagated"}
        Compare rows of X, or rows of S^2 X with S = D~^-1/2 (A + I) D~^-1/2; of length 1 in both cases.
    """

    space: Space = "raw"

    def __post_init__(self) -> None:
        super().__post_init__()
        require("space", self.space, self.space in SPACES, f"one of {SPACES}")


def make_options(method: str, kind: type[T], given: dict[str, Any]) -> T:
    """Build the options of a method from keyword arguments, naming those it does not have."""
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name, value in given.items():
        if name not in known:
            msg = f"{name}={value!r} is not an option of {method!r}: it has {', '.join(known)}"
            raise ConfigError(msg)
    return kind(**given)


def require(name: str, value: object, good: bool, wanted: str) -> None:  # noqa: FBT001 - a predicate's outcome
    """Refuse a value that is not good."""
    if not good:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)


def require_int(name: str, value: object, low: int) -> None:
    """Refuse what is not an integer of at least `low`."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= low
    require(name, value, good, f"an integer >= {low}")


def require_number(name: str, value: object, low: float, high: float = float("inf"), *, low_open: bool = False) -> None:
    """Refuse what is not a number in [low, high], or in (low, high]."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if good:
        good = (low < value if low_open else low <= value) and value <= high and value != float("inf")  # type: ignore[operator]
    bounds = f"{'(' if low_open else '['}{low}, {high}]"
    require(name, value, good, f"a number in {bounds}")
