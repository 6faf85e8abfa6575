"""Tables in CSV files: other separators, decimal commas and encodings; files that need an option say which."""

from __future__ import annotations

import codecs
import difflib
import gzip
import lzma
import mmap
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError, FileFormatError, MissingDependencyError, UnsupportedInputError
from herald_gpu.install import pip_line_of
from herald_gpu.io.frames import some
from herald_gpu.io.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from herald_gpu.io.categories import Levels
    from herald_gpu.io.read import Columns

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": ","}
"""What separates values, by the ending of the file's name."""
PACKED = (".gz", ".bz2", ".zip", ".xz", ".zst")
CANDIDATES = (";", "\t", "|", ",", " ")
"""Separators that are recognised, in this order."""
WIDE = ("utf-16", "utf-32")
"""Encodings in which a digit is more than one byte."""
SHOWN = 60
"""Characters of a line that a message shows."""
DATE = r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}(?: .*)?"


@dataclass(frozen=True)
class Format:
    """How a CSV file is written.

    Attributes
    ----------
    separator : str, optional
        One character; by default a comma, and in ``.tsv`` files a tab.
    decimal : str
        The decimal point: "." or ",".
    encoding : str
        Of the characters; a byte order mark is skipped.
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"


def format_of(given: Mapping[str, Any] | None) -> Format:
    """Check the options of CSV files.

    Raises
    ------
    ConfigError
        If an option is not known, or has a value that it cannot have.

    Examples
    --------
    >>> format_of({"separator": ";", "decimal": ","})
    Format(separator=';', decimal=',', encoding='utf-8')
    """
    _check_mapping(given)
    names = [one.name for one in fields(Format)]
    for key, value in (given or {}).items():
        if key not in names:
            close = difflib.get_close_matches(str(key), names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"pass some of {', '.join(map(repr, names))}"
            msg = f"csv={dict(given or {})!r} has the key {key!r}, which is not known: {hint}"
            raise ConfigError(msg)
        if not isinstance(value, str):
            msg = f"csv={{{key!r}: {value!r}}} is not valid: pass text"
            raise ConfigError(msg)
    made = Format(**{key: "\t" if value in ("\\t", "tab") else value for key, value in (given or {}).items()})
    if made.separator is not None and len(made.separator) != 1:
        msg = f"csv={{'separator': {made.separator!r}}} is not valid: pass one character, such as ';' or '\\t'"
        raise ConfigError(msg)
    if made.decimal not in (".", ","):
        msg = f"csv={{'decimal': {made.decimal!r}}} is not valid: pass '.' or ','"
        raise ConfigError(msg)
    try:
        "".encode(made.encoding)
    except LookupError as error:
        msg = f"csv={{'encoding': {made.encoding!r}}} is not known: pass 'utf-8', 'latin-1', 'cp1252' or 'utf-16'"
        raise ConfigError(msg) from error
    return made


def _check_mapping(given: object) -> None:
    if given is not None and not isinstance(given, Mapping):
        msg = f"csv={given!r} is not valid: pass a mapping, such as {{'separator': ';'}}"
        raise ConfigError(msg)


def is_csv(value: Any) -> bool:  # noqa: ANN401 - any object
    """Tell the paths of CSV files by their endings, compressed or not.

    Examples
    --------
    >>> [is_csv(name) for name in ("a.csv", "a.TSV.gz", "a.txt", "a.parquet")]
    [True, True, True, False]
    """
    return isinstance(value, str | os.PathLike) and _ending(value) in SEPARATORS


def check_used(given: Mapping[str, str] | None, *values: Any) -> None:  # noqa: ANN401 - any objects
    """Refuse options of CSV files where there is no CSV file."""
    _check_mapping(given)
    if given and not any(is_csv(value) for value in values):
        msg = f"csv={dict(given)!r} is for paths of CSV files, and none is given: leave it out"
        raise ConfigError(msg)


def read_graph(
    edges: Any,  # noqa: ANN401 - a path, or whatever needs no reading here
    feats: Any,  # noqa: ANN401 - as above
    columns: Columns,
    given: Mapping[str, str] | None = None,
    levels: Levels | None = None,
) -> tuple[Any, Any]:
    """Read edges and nodes, where they are paths of CSV files; what is not passes.

    Ids are text in both tables or in neither: they are text where one of them is, or begins with a zero ("007").
    The options are for both files; a separator that does not split the header of one of them is for the other.

    Parameters
    ----------
    edges, feats
        As of :func:`herald_gpu.condense`.
    columns : Columns
    given : mapping, optional
        Options of CSV files, as of :func:`herald_gpu.condense`.
    levels : dict, optional
        Levels of encoded columns, where a condensed graph knows them already.
    """
    form, ends, text = format_of(given), (columns.source, columns.target), text_columns(levels)
    table, pairs = feats, edges
    if is_csv(feats):
        own = (columns.node, columns.label, columns.train, *columns.drop, *columns.categorical)
        table = read_frame(feats, form, ids=(columns.node, *columns.categorical), text=text, own=own)
        _check_features(table, feats, columns, form)
    if is_csv(edges):
        pairs = read_frame(edges, form, ids=ends, own=ends, header=True)
        kinds = _text_ends(pairs, ends)
        if False in kinds and (True in kinds or _has_text_ids(table, columns.node)):
            pairs = read_frame(edges, form, text=ends)
    if is_csv(feats) and True in _text_ends(pairs, ends) and not _has_text_ids(table, columns.node):
        table = read_frame(feats, form, ids=columns.categorical, text=(columns.node, *text))
    return pairs, table


def text_columns(levels: Levels | None) -> tuple[Any, ...]:
    """List the encoded columns whose levels are text: they are read as text, even if all values are digits."""
    return tuple(name for name, own in (levels or {}).items() if all(isinstance(level, str) for level in own))


def read_frame(
    path: str | os.PathLike[str],
    form: Format | None = None,
    *,
    ids: Collection[Any] = (),
    text: Collection[Any] = (),
    own: Collection[Any] = (),
    header: bool = False,
) -> pd.DataFrame:
    """Read a CSV file.

    Parameters
    ----------
    path : path-like
    form : Format, optional
    ids : collection of str
        Columns that are text if one of their values begins with a zero ("007").
    text : collection of str
        Columns that are text.
    own : collection of str
        Columns that the table may have; a first line of numbers without any of them is no header.
    header : bool
        Whether even the names 0, 1, ... are taken for numbers.

    Raises
    ------
    FileFormatError
        If the file needs other options, or is no CSV file.
    """
    form = form or Format()
    names = list(_parsed(path, form, nrows=0).columns)
    if len(names) == 1 and form.separator is not None:  # meant for the other file, perhaps
        usual = Format(encoding=form.encoding)
        others = list(_parsed(path, usual, nrows=0).columns)
        form, names = (usual, others) if len(others) > 1 else (form, names)
    if own:
        _check_header(path, names, own, header=header)
    _check_separator(path, names, form)
    frame = _parsed(path, form, dtype={name: str for name in names if name in text})
    _check_widths(path, frame)
    for name, column in _zero_led(path, form, frame, [name for name in names if name in ids]).items():
        frame[name] = column
    return frame


def _parsed(path: str | os.PathLike[str], form: Format, **options: Any) -> pd.DataFrame:  # noqa: ANN401 - those of pandas
    import pandas as pd

    separator = _separator(path, form)
    try:
        # All of a column is read before its type is chosen, so that no column has two.
        return pd.read_csv(
            path,
            sep=separator,
            decimal=form.decimal,
            encoding=form.encoding,
            low_memory=False,
            **options,
        )
    except UnicodeError as error:
        raise _undecodable(path, form) from error
    except ImportError as error:
        msg = f"{path} cannot be unpacked: {pip_line_of(['zstandard'])}, or unpack it first"
        raise MissingDependencyError(msg) from error
    except (ValueError, EOFError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path} cannot be read as its name says ({error}): check the file, or rename it to its format"
        raise FileFormatError(msg) from error


def _ending(path: str | os.PathLike[str]) -> str:
    plain = Path(path)
    return Path(plain.stem if plain.suffix.lower() in PACKED else plain).suffix.lower()


def _separator(path: str | os.PathLike[str], form: Format) -> str:
    separator = form.separator or SEPARATORS[_ending(path)]
    if separator == form.decimal:
        msg = (
            f"csv={{'decimal': {form.decimal!r}}} is also what separates the values of {path}: pass another separator, "
            "such as csv={'separator': ';'}"
        )
        raise ConfigError(msg)
    return separator


def _undecodable(path: str | os.PathLike[str], form: Format) -> FileFormatError:
    """Make the error of a file in another encoding."""
    if Path(path).suffix.lower() in PACKED:
        return FileFormatError(f"{path} is not {form.encoding}: pass csv={{'encoding': 'latin-1'}}, or the one it has")
    data = Path(path).read_bytes()
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        likely = "utf-16"
    else:
        # Latin-1 has no characters here, and Windows has its quotes and dashes.
        likely = "cp1252" if re.search(rb"[\x80-\x9f]", data) else "latin-1"
    try:
        data.decode(form.encoding)
    except UnicodeDecodeError as error:
        seen = f"byte 0x{data[error.start]:02x} at position {error.start:,}"
    except UnicodeError as error:
        seen = str(error)
    else:
        seen = "some of its bytes"
    if form.encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        likely = "utf-8"
    return FileFormatError(f"{path} is not {form.encoding} ({seen}): pass csv={{'encoding': {likely!r}}}")


def _check_separator(path: str | os.PathLike[str], names: list[str], form: Format) -> None:
    """Refuse a header that another separator would split."""
    if len(names) > 1:
        return
    used = _separator(path, form)
    for candidate in CANDIDATES:
        if candidate != used and candidate in names[0]:
            msg = f"{path} looks separated by {candidate!r}: pass csv={{'separator': {candidate!r}}}"
            raise FileFormatError(msg)


def _check_header(path: str | os.PathLike[str], names: list[str], own: Collection[Any], *, header: bool) -> None:
    """Refuse a first line that holds values, not names."""
    listed = names if len(names) > 1 else re.split(r"[,;\t| ]+", names[0])
    if set(listed) & set(own):
        return
    comment = names[0].startswith("#")
    numbers = [name for name in listed if _is_number(name)]
    counted = not header and listed == [str(number) for number in range(len(listed))]  # names that pandas makes up
    if header:
        values = len(numbers) == len(listed)
    else:  # labels may be words
        values = not counted and _is_number(listed[0]) and 2 * len(numbers) >= len(listed)
    if comment or values:
        shown, wanted = " ".join(listed)[:SHOWN], ", ".join([str(name) for name in own if name is not None][:2])
        msg = (
            f"{path} has no header row, its first line begins with {shown!r}: add a first line with the names of the "
            f"columns, such as {wanted}" + (", and remove comments" if comment else "")
        )
        raise FileFormatError(msg)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_widths(path: str | os.PathLike[str], frame: pd.DataFrame) -> None:
    """Refuse rows with more values than there are names: pandas would take the first ones for an index."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        msg = (
            f"{path} has {frame.shape[1]} names in its header and {frame.shape[1] + frame.index.nlevels} values in a "
            "row: add the missing name; numbers with decimal commas need quotes, or another separator, as in "
            "csv={'separator': ';', 'decimal': ','}"
        )
        raise FileFormatError(msg)


def _zero_led(
    path: str | os.PathLike[str], form: Format, frame: pd.DataFrame, names: list[str]
) -> dict[str, pd.Series]:
    """Read columns of numbers again as text, of which some begin with a zero: 007 is another id than 7."""
    held = [name for name in names if frame[name].dtype.kind in "iuf"]
    if not held or not _may_lead_with_zero(path, form):
        return {}
    again = _parsed(path, form, usecols=held, dtype=str)
    return {name: again[name] for name in held if again[name].str.match(r"[+-]?0[0-9]").fillna(value=False).any()}


def _may_lead_with_zero(path: str | os.PathLike[str], form: Format) -> bool:
    """Look for such values in the bytes of the file, which is quicker than to read its columns twice."""
    if Path(path).suffix.lower() in PACKED or form.encoding.lower().startswith(WIDE):
        return True
    starts = rb"[\r\n\"' " + re.escape(_separator(path, form)).encode() + rb"][+-]?0[0-9]"
    with Path(path).open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return re.search(starts, data) is not None


def _is_table(value: Any) -> bool:  # noqa: ANN401 - any object
    return kind_of(value) == "pandas" and hasattr(value, "columns") and value.columns.is_unique


def _is_text(column: pd.Series | pd.Index) -> bool:
    import pandas as pd

    return pd.api.types.is_string_dtype(column.dtype) or column.dtype == object


def _text_ends(pairs: Any, ends: tuple[str, str]) -> set[bool]:  # noqa: ANN401 - a table, or anything else
    """Tell which kinds the two ends of edges have: text, numbers, or both; none if they are in no table."""
    return {_is_text(pairs[name]) for name in ends if name in pairs.columns} if _is_table(pairs) else set()


def _has_text_ids(table: Any, node: str | None) -> bool:  # noqa: ANN401 - a table, or anything else
    if not _is_table(table):
        return False
    return _is_text(table[node] if node in table.columns else table.index)


def _check_features(frame: pd.DataFrame, path: str | os.PathLike[str], columns: Columns, form: Format) -> None:
    """Refuse features that are numbers or dates in another spelling, and say what helps."""
    beside = {columns.node, columns.label, columns.train, *columns.drop, *columns.categorical}
    point, other = re.escape(form.decimal), "." if form.decimal == "," else ","
    for name in frame.columns:
        if name in beside or not _is_text(frame[name]):
            continue
        values = frame[name].dropna().astype(str).str.strip()
        marked = values[values.str.contains(other, regex=False)]
        plain = rf"[+-]?\d+(?:{point}\d+)?"
        if len(marked) == 0:
            if len(values) and values.str.fullmatch(DATE).all():
                raise _dates(path, name, values.iloc[0])
            continue
        mark = re.escape(other)
        grouped = rf"[+-]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+(?:{point}\d+)?"
        if values.str.fullmatch(f"{grouped}|{plain}").all():
            msg = (
                f"{path} column {name!r} has numbers such as {marked.iloc[0]!r}: write thousands without {other!r}; if "
                f"it is the decimal point, pass csv={{'decimal': {other!r}}}"
            )
            raise FileFormatError(msg)
        if values.str.fullmatch(rf"[+-]?\d*{mark}\d+|[+-]?\d+").all():
            msg = f"{path} column {name!r} has numbers such as {marked.iloc[0]!r}: pass csv={{'decimal': {other!r}}}"
            raise FileFormatError(msg)
        if values.str.fullmatch(DATE).all():
            raise _dates(path, name, values.iloc[0])


def _dates(path: str | os.PathLike[str], name: Any, value: str) -> UnsupportedInputError:  # noqa: ANN401 - a column
    return UnsupportedInputError(
        f"{path} column {name!r} has dates such as {value!r}: turn them into numbers first, such as years or days, or "
        f"pass drop={some([name])} to leave them out"
    )
