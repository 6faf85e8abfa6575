"""Doubles of cuDF: columns on the device, which come to the host only when they are asked to."""

from __future__ import annotations

import numpy as np
import pandas as pd

from support.doubles._arrays import DISORDER, to_device


class _NoDefault:
    def __repr__(self):
        return "no_default"


no_default = _NoDefault()


class ListDtype:
    """Type of a column of lists."""

    kind = "O"

    def __init__(self, element_type):
        self.element_type = element_type


def _plain(dtype):
    """Type of a column: a column with nulls has the same type as one without."""
    if isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("list"):
        return ListDtype(dtype.pyarrow_dtype.value_type)
    return np.dtype(dtype.numpy_dtype) if hasattr(dtype, "numpy_dtype") else dtype


def _column(data, dtype=None):
    """Take in what may become a column, nulls and all."""
    if isinstance(data, Series | Index):
        taken = data._data
    elif hasattr(data, "__cuda_array_interface__"):
        taken = pd.Series(data.get())
    else:
        taken = pd.Series(data).convert_dtypes(convert_string=False) if isinstance(data, list) else pd.Series(data)
    return (taken if dtype is None else taken.astype(dtype)).copy()


def _refuse(**options):
    """Refuse options that are not modelled."""
    given = [name for name, value in options.items() if value]
    if given:
        msg = f"{', '.join(given)} not modelled"
        raise NotImplementedError(msg)


class _OnDevice:
    """What series, indexes and frames have in common."""

    __module__ = "cudf"

    def __array__(self, *_, **__):
        msg = "Implicit conversion to a host NumPy array via __array__ is not allowed, To explicitly construct a GPU "
        raise TypeError(msg + "matrix, consider using .to_cupy()")

    def __iter__(self):
        msg = f"{type(self).__name__} object is not iterable. Consider using `.to_arrow()`, `.to_pandas()`"
        raise TypeError(msg)

    def __len__(self):
        return len(self._data)

    shape = property(lambda self: self._data.shape)
    ndim = property(lambda self: self._data.ndim)

    def to_pandas(self):
        return self._data.copy()


class _Column(_OnDevice):
    dtype = property(lambda self: _plain(self._data.dtype))

    def to_cupy(self, dtype=None, copy=False, na_value=None):
        if self.dtype.kind not in "biuf":
            msg = "String arrays is not supported by cupy"
            raise TypeError(msg)
        values = pd.Series(self._data)
        if values.isna().any() and na_value is None and values.dtype.kind != "f":
            msg = "Column must have no nulls."
            raise ValueError(msg)
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        if values.isna().any() and isinstance(na_value, float) and self.dtype.kind != "f":
            msg = f"Cannot safely cast non-equivalent float to {self.dtype}"  # gaps are filled before the cast
            raise TypeError(msg)
        if na_value is not None:
            return to_device(values.to_numpy(dtype=wanted, na_value=na_value))
        _ = copy  # without nulls it may be a view, and none is promised
        return to_device(values.to_numpy(dtype=wanted))


class Index(_Column):
    def __init__(self, data=None, dtype=None, copy=False, name=None, tupleize_cols=True, nan_as_null=no_default):
        _refuse(dtype=dtype, copy=copy, tupleize_cols=not tupleize_cols, nan_as_null=nan_as_null is not no_default)
        self._data = data if isinstance(data, pd.Index) else pd.Index(_column(data), name=name)

    nlevels = property(lambda self: self._data.nlevels)
    name = property(lambda self: self._data.name)

    def to_series(self, index=None, name=None):
        _refuse(index=index, name=name)
        return Series(self._data.to_series())


Index.__module__ = "cudf"


class Series(_Column):
    def __init__(self, data=None, index=None, dtype=None, name=None, copy=False, nan_as_null=no_default):
        _refuse(index=index is not None, nan_as_null=nan_as_null is not no_default)
        self._data = _column(data, dtype)
        _ = copy  # the double always copies
        if name is not None:
            self._data.name = name

    @property
    def index(self):
        return Index(self._data.index)

    @index.setter
    def index(self, value):
        self._data.index = value._data

    def __eq__(self, other):
        return Series(self._data == (other._data if isinstance(other, Series) else other))

    __hash__ = None

    def __getitem__(self, key):
        return Series(self._data[key._data if isinstance(key, Series) else key])

    def isna(self):
        return Series(self._data.isna())

    def duplicated(self, keep="first"):
        return Series(self._data.duplicated(keep=keep))

    def any(self, axis=0, bool_only=None, skipna=True, **kwargs):
        _refuse(axis=axis, bool_only=bool_only, skipna=not skipna, **kwargs)
        return bool(self._data.any())

    def sum(self, axis=0, skipna=True, numeric_only=False, min_count=0, **kwargs):
        _refuse(axis=axis, skipna=not skipna, numeric_only=numeric_only, min_count=min_count, **kwargs)
        return self._data.sum()

    def head(self, n=5):
        return Series(self._data.head(n))

    def astype(self, dtype, copy=None, errors="raise"):
        _refuse(copy=copy, errors=errors != "raise")
        return Series(self._data.astype(dtype))

    def fillna(self, value, *, axis=None, inplace=False, limit=None):
        _refuse(axis=axis, inplace=inplace, limit=limit)
        return Series(self._data.fillna(value))

    def reset_index(self, level=None, drop=False, name=no_default, inplace=False, allow_duplicates=False):
        _refuse(level=level, name=name is not no_default, inplace=inplace, allow_duplicates=allow_duplicates)
        _refuse(keeping_the_index=not drop)
        return Series(self._data.reset_index(drop=True))

    def take(self, indices, axis=0):
        _refuse(axis=axis)
        if not hasattr(indices, "__cuda_array_interface__"):
            msg = f"a {type(indices).__name__} would be transferred to the device silently: pass a CuPy array"
            raise TypeError(msg)
        return Series(self._data.take(indices.get()))

    def sort_values(
        self, axis=0, ascending=True, inplace=False, kind="quicksort", na_position="last", ignore_index=False, key=None
    ):
        _refuse(axis=axis, inplace=inplace, kind=kind != "quicksort", ignore_index=ignore_index, key=key)
        shuffled = self._data.iloc[DISORDER.permutation(len(self._data))]  # equal values come in any order
        return Series(shuffled.sort_values(ascending=ascending, na_position=na_position, kind="stable"))

    def drop_duplicates(self, keep="first", inplace=False, ignore_index=False):
        _refuse(keep=keep != "first", inplace=inplace, ignore_index=ignore_index)
        found = self._data.drop_duplicates()
        return Series(found.iloc[DISORDER.permutation(len(found))])  # in any order

    def to_arrow(self):
        import pyarrow as pa

        return pa.Array.from_pandas(self._data)


Series.__module__ = "cudf"


class DataFrame(_OnDevice):
    def __init__(self, data=None, index=None, columns=None, dtype=None, copy=None, nan_as_null=no_default):
        _refuse(index=index is not None, dtype=dtype, copy=copy)
        _refuse(nan_as_null=nan_as_null is not no_default)
        on_device = hasattr(data, "__cuda_array_interface__")
        _refuse(columns=columns is not None and not on_device)
        if isinstance(data, dict):
            self._data = pd.DataFrame({name: _column(column).array for name, column in data.items()})
        elif on_device:
            self._data = pd.DataFrame(data.get(), columns=columns)
        else:
            self._data = pd.DataFrame(data._data if isinstance(data, DataFrame) else data)

    columns = property(lambda self: self._data.columns)
    dtypes = property(lambda self: self._data.dtypes.map(_plain))

    @property
    def index(self):
        return Index(self._data.index)

    @index.setter
    def index(self, value):
        self._data.index = value._data

    def __getitem__(self, key):
        part = self._data[key]
        return DataFrame(part) if isinstance(part, pd.DataFrame) else Series(part)

    def astype(self, dtype, copy=None, errors="raise"):
        _refuse(copy=copy, errors=errors != "raise")
        return DataFrame(self._data.astype(dtype))

    def to_cupy(self, dtype=None, copy=False, na_value=None):
        parts = [Series(self._data[name]).to_cupy(dtype, copy, na_value).get() for name in self._data.columns]
        return to_device(np.asfortranarray(np.stack(parts, axis=1)))  # column by column, as it is stored

    def merge(  # noqa: PLR0917 - the real signature
        self,
        right,
        how="inner",
        on=None,
        left_on=None,
        right_on=None,
        left_index=False,
        right_index=False,
        sort=False,
        suffixes=("_x", "_y"),
        indicator=False,
        validate=None,
    ):
        _refuse(left_on=left_on, right_on=right_on, left_index=left_index, right_index=right_index)
        _refuse(sort=sort, indicator=indicator, validate=validate)
        joined = self._data.merge(right._data, how=how, on=on, suffixes=suffixes)
        for name in set(right._data.columns) - {on}:
            joined[name] = joined[name].convert_dtypes()  # whole numbers stay so beside nulls
        return DataFrame(joined.iloc[DISORDER.permutation(len(joined))])  # rows in any order

    def sort_values(
        self,
        by,
        axis=0,
        ascending=True,
        inplace=False,
        kind="quicksort",
        na_position="last",
        ignore_index=False,
        key=None,
    ):
        _refuse(axis=axis, inplace=inplace, kind=kind != "quicksort", ignore_index=ignore_index, key=key)
        return DataFrame(self._data.sort_values(by, ascending=ascending, na_position=na_position, kind="stable"))


DataFrame.__module__ = "cudf"
