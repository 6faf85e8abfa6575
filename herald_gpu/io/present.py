"""From plain arrays to the caller's own kind of object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import scipy.sparse

from herald_gpu.errors import ConfigError
from herald_gpu.io import torch
from herald_gpu.io.kinds import FRAME_KINDS, Kind, library
from herald_gpu.io.read import Style

if TYPE_CHECKING:
    import pandas as pd

OutputType = Literal["input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf"]
OUTPUT_TYPES = ("input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf")
DEVICE_KINDS: tuple[Kind, ...] = ("cudf", "cupy", "cupyx", "torch")
"""What results can be given as without leaving the device."""
xp = np


class Presenter(Protocol):
    """What gives arrays to the caller: this module for arrays on the host, a backend's own for those on a device."""

    xp: Any

    def take(self, ids: Any, places: Any) -> Any:  # noqa: ANN401 - ids of any type
        """Ids at these places."""
        ...

    def extend(self, ids: Any, more: np.ndarray) -> Any:  # noqa: ANN401
        """Ids, and some more from the host behind them."""
        ...

    def any_of(self, ids: Any, names: list[str]) -> bool:  # noqa: ANN401
        """Whether any of these names is an id."""
        ...

    def index(self, ids: Any, name: str) -> Any:  # noqa: ANN401
        """Make the index of a table."""
        ...

    def vector(self, kind: Kind, values: Any, *, name: str | None = None, index: Any = None) -> Any:  # noqa: ANN401
        """A column of values."""
        ...

    def labels(
        self,
        kind: Kind,
        codes: Any,  # noqa: ANN401
        classes: np.ndarray,
        *,
        unlabelled: Any,  # noqa: ANN401
        name: str,
        index: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Class values of nodes."""
        ...

    def matrix(self, style: Style, x: Any, *, names: np.ndarray, index: Any = None) -> Any:  # noqa: ANN401
        """A feature matrix."""
        ...

    def table(self, kind: Kind, columns: dict[str, Any]) -> Any:  # noqa: ANN401
        """A table from columns."""
        ...

    def edges(self, style: Style, source: Any, target: Any, *, names: tuple[str, str]) -> Any:  # noqa: ANN401
        """Edges in the caller's ids."""
        ...

    def tensor(self, values: Any) -> Any:  # noqa: ANN401
        """Copy an array into a torch tensor."""
        ...


def check_output_type(output_type: str) -> None:
    """Refuse an `output_type=` that is not known."""
    if output_type not in OUTPUT_TYPES:
        msg = f"output_type={output_type!r} is not known: pass one of {OUTPUT_TYPES}"
        raise ConfigError(msg)


def choose_style(style: Style, output_type: OutputType) -> Style:
    """Apply `output_type=` to the style of the input."""
    check_output_type(output_type)
    if output_type == "input":
        return Style(_settled(style.edges), _settled(style.nodes), style.sparse)
    return Style(output_type, output_type, style.sparse)


def _settled(kind: Kind) -> Kind:
    plain: dict[Kind, Kind] = {
        "scipy": "numpy",
        "networkx": "numpy",
        "other": "numpy",
        "cupyx": "cupy",
        "parquet": "pandas",
    }
    return plain.get(kind, kind)


def take(ids: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Ids at these places."""
    return ids[places]


def extend(ids: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Ids, and some more behind them; of several types if they must be."""
    if len(more) == 0:
        return ids
    alike = ids.dtype.kind in "iufU" and (ids.dtype.kind == "U") == (more.dtype.kind == "U")
    if alike:
        return np.concatenate([ids, more])
    return np.concatenate([_objects(ids), more.astype(object)])


def _objects(ids: np.ndarray) -> np.ndarray:
    """Give ids as Python objects; NumPy would turn dates in nanoseconds into integers."""
    if ids.dtype.kind not in "mM":
        return ids.astype(object)
    import pandas as pd

    return pd.Index(ids).astype(object).to_numpy()


def any_of(ids: np.ndarray, names: list[str]) -> bool:
    """Whether any of these names is an id."""
    return not set(names).isdisjoint(ids.tolist())


def index(ids: np.ndarray, name: str) -> pd.Index:
    """Make the index of a table."""
    import pandas as pd

    return pd.Index(ids, name=name)


def tensor(values: np.ndarray) -> Any:  # noqa: ANN401 - a torch tensor
    """Copy an array into a torch tensor."""
    return torch.to_tensor(values)


def vector(kind: Kind, values: Any, *, name: str | None = None, index: Any = None) -> Any:  # noqa: ANN401 - the caller's kind
    """A column of values; in pandas and cuDF it carries `index`."""
    if kind in ("pandas", "cudf"):
        import pandas as pd

        series = pd.Series(values, index=index, name=name)
        return series if kind == "pandas" else library("cudf", "cu13").Series(series)
    if kind == "polars":
        return library("polars").Series(name or "", _of_one_type(values))
    if kind == "arrow":
        return library("pyarrow", "arrow").array(_of_one_type(values))
    if kind == "torch" and values.dtype.kind in "biuf":
        return tensor(values)
    if kind == "cupy" and values.dtype.kind in "biuf":
        return library("cupy", "cu13").asarray(values)
    return values


def _of_one_type(values: np.ndarray) -> np.ndarray | list[Any]:
    """Give values as Arrow and polars take them: those of several types, as dates beside landmarks, as text."""
    if values.dtype.kind in "mM":
        return values.astype(f"{values.dtype.kind}8[ns]" if "ns" in str(values.dtype) else f"{values.dtype.kind}8[us]")
    if values.dtype != object:
        return values
    listed: list[Any] = values.tolist()
    if len({type(value) for value in listed if value is not None}) <= 1:
        return listed
    return [None if value is None else str(value) for value in listed]


def labels(
    kind: Kind,
    codes: np.ndarray,
    classes: np.ndarray,
    *,
    unlabelled: Any,  # noqa: ANN401 - any value
    name: str,
    index: Any,  # noqa: ANN401 - a pandas index
) -> Any:  # noqa: ANN401 - the caller's kind
    """Class values of nodes; unknown ones are null in tables, else `unlabelled` (or None)."""
    picked, unknown = classes[np.maximum(codes, 0)], codes < 0
    whole = isinstance(unlabelled, int | np.integer) and not isinstance(unlabelled, bool)
    if kind not in FRAME_KINDS and classes.dtype.kind in "iu" and whole:
        picked[unknown] = unlabelled
        return vector(kind, picked)
    values = picked.astype(object)
    values[unknown] = unlabelled if kind not in FRAME_KINDS and isinstance(unlabelled, str) else None
    if kind in ("pandas", "cudf"):
        import pandas as pd

        return vector(kind, pd.array(values, dtype=_nullable(classes)), name=name, index=index)
    return vector(kind, values, name=name)


def _nullable(classes: np.ndarray) -> str:
    return {"i": "Int64", "u": "Int64", "b": "boolean", "U": "str"}.get(classes.dtype.kind, "object")


def matrix(style: Style, x: Any, *, names: np.ndarray, index: Any = None) -> Any:  # noqa: ANN401 - the caller's kind
    """A feature matrix: sparse if the caller's was (unless it was reduced), with column names in tables."""
    kind, sparse = style.nodes, scipy.sparse.issparse(x)
    if style.sparse and sparse and kind in ("numpy", "torch", "cupy", "pandas"):
        return _sparse_matrix(kind, x, names=names, index=index)
    dense = x.toarray() if sparse else x
    return table(kind, dense, names=names, index=index) if kind in FRAME_KINDS else vector(kind, dense)


def _sparse_matrix(kind: Kind, x: scipy.sparse.csr_matrix, *, names: np.ndarray, index: Any) -> Any:  # noqa: ANN401
    if kind == "torch":
        return torch.to_sparse_tensor(x)
    if kind == "cupy":
        return library("cupyx.scipy.sparse", "cu13").csr_matrix(x)
    if kind == "pandas":
        import pandas as pd

        make: Any = pd.DataFrame.sparse
        # pandas takes what a float matrix does not store for missing, not for zero.
        return make.from_spmatrix(x, index=index, columns=list(names)).fillna(0)
    return x


def table(kind: Kind, columns: dict[str, Any] | np.ndarray, *, names: Any = None, index: Any = None) -> Any:  # noqa: ANN401
    """A table from a matrix with column names or from a dict of columns; pandas for kinds that have no tables."""
    import pandas as pd

    if isinstance(columns, np.ndarray):
        frame = pd.DataFrame(columns, columns=list(names), index=index)
    else:
        frame = pd.DataFrame(columns, index=index)
    if kind == "cudf":
        return library("cudf", "cu13").DataFrame(frame)
    if kind == "polars":
        return library("polars").DataFrame({str(name): _of_one_type(frame[name].to_numpy()) for name in frame.columns})
    if kind == "arrow":
        mixed = {name: _of_one_type(frame[name].to_numpy()) for name in frame.columns if frame[name].dtype == object}
        return library("pyarrow", "arrow").Table.from_pandas(frame.assign(**mixed), preserve_index=False)
    return frame


def edges(style: Style, source: np.ndarray, target: np.ndarray, *, names: tuple[str, str]) -> Any:  # noqa: ANN401
    """Edges in the caller's ids: a table with two columns, or a (2, E) array."""
    if style.edges in FRAME_KINDS:
        return table(style.edges, {names[0]: source, names[1]: target})
    return vector(style.edges, np.stack([source, target]))
