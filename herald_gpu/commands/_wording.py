"""Errors in the words of the command line: ``--seed -1`` where Python has ``random_state=-1``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

OTHER_NAMES = {
    "random_state": "seed",
    "feats": "features",
    "overwrite": "force",
    "n_nodes": "nodes",
    "n_edges": "edges",
    "n_features": "features",
    "n_classes": "classes",
}
"""Arguments of Python that the command line calls otherwise."""
PHRASES = (
    ("node=None", "--number-rows", "number_rows"),
    ("pass labels=, or name", "name", "label"),
    ("best_validation=False", "--last", "last"),
    (": correct train_column=, or pass train=", ": correct --train-column", "train_column"),
)
"""What is said otherwise on the command line, where it has this option."""
SEVERAL = {"ratio": "ratios"}
"""Arguments that a command may take several of, under another name."""
PLACES = ("result",)
"""Arguments without dashes that name a file."""
OUTPUTS = ("output", "csv")
"""Options that name what is written: a data set and a file may have the same name."""


def in_options(message: str, args: argparse.Namespace | None) -> str:
    """Name options where the message names arguments of the same meaning.

    Parameters
    ----------
    message : str
    args : argparse.Namespace, optional
        What was parsed; only names of its options are changed.

    Examples
    --------
    >>> given = argparse.Namespace(seed=-1, source="src", features="nodes.csv", set=[], output=Path("no/x.herald"))
    >>> in_options("random_state=-1 is not valid: pass an integer >= 0", given)
    '--seed -1 is not valid: pass an integer >= 0'
    >>> in_options("feats has no column 'id': correct source=, or depth=2", given)
    "--features has no column 'id': correct --source, or depth=2"
    >>> csv = argparse.Namespace(separator=None, drop=[])
    >>> in_options("pass categorical=['a', 'b c'] or drop=['a'], or csv={'separator': ';', 'decimal': ','}", csv)
    "pass --categorical a --categorical 'b c' or --drop a, or --separator ';' --decimal ','"
    >>> in_options("pass node='id', or node=None", argparse.Namespace(node="node", number_rows=False))
    "pass --node 'id', or --number-rows"
    >>> in_options("ratio=2 is not valid: pass a number in (0, 1]", argparse.Namespace(ratios=[2]))
    '--ratios 2 is not valid: pass a number in (0, 1]'
    >>> in_options("set=True is not valid", given)
    '--set is not valid'
    >>> in_options("path='no/x.herald': no such folder", given)
    '--output no/x.herald: no such folder'
    >>> in_options("pass HeraldConfig.paper(depth=1), or HeraldConfig(on_infeasible='best_effort')", given)
    'pass --preset paper --set depth=1, or --set on_infeasible=best_effort'
    """
    if args is None:
        return message
    for words, others, key in PHRASES:
        message = message.replace(words, others) if hasattr(args, key) else message
    message = re.sub(r"path='(?P<path>[^']*)'", lambda match: _named(match["path"], args) or match.group(), message)
    if hasattr(args, "separator"):
        message = re.sub(r"csv=\{(?P<items>[^}]*)\}", lambda match: _as_words(match["items"]), message)
        message = re.sub(r"(?P<name>drop|categorical)=\[(?P<items>[^\]]*)\]", _as_repeated, message)
    if hasattr(args, "preset"):
        message = re.sub(r"HeraldConfig\.published\('(\w+)'\)", r"--preset published-\1", message)
    if hasattr(args, "set"):
        message = re.sub(
            r"HeraldConfig(?:\.(?P<preset>\w+))?\((?P<key>\w+)='?(?P<value>[^'(),]+)'?\)", _as_set, message
        )

    def option(match: re.Match[str]) -> str:
        name, equals, after = match.group("name", "equals", "after")
        known = OTHER_NAMES.get(name, name)
        if not hasattr(args, known):
            known = SEVERAL.get(name, known)
        if not hasattr(args, known) or not (equals or name == "feats"):
            return match.group()
        space = " " if equals == "=" and after and after not in " ,;:)" else ""
        return f"{spelt(known)}{space}{after}"

    # Not inside words, quotes, calls or options.
    return re.sub(r"(?<![\w'\"(.-])(?<!--set )(?P<name>[a-z_]+)\b(?P<equals>=True\b|=?)(?P<after>.?)", option, message)


def told(error: OSError, args: argparse.Namespace | None) -> str:
    """Say which option names the file that an operating system refuses.

    Examples
    --------
    >>> given = argparse.Namespace(edges=Path("no.csv"))
    >>> told(FileNotFoundError(2, "No such file or directory", "no.csv"), given)
    '--edges no.csv: No such file or directory: check the path'
    """
    if error.filename is None or error.strerror is None:
        return str(error)
    shown = str(error.filename)
    return f"{_named(shown, args or argparse.Namespace()) or shown}: {error.strerror}: check the path"


def _named(path: str, args: argparse.Namespace) -> str | None:
    """Spell the option that names this file, with the file; None if there is none."""
    for key, value in sorted(vars(args).items(), key=lambda item: item[0] not in OUTPUTS):
        if isinstance(value, str | Path) and Path(value) == Path(path):
            return f"{spelt(key)} {path}"
    return None


def spelt(key: str) -> str:
    """Spell an option, or an argument without dashes, as the help does."""
    return key.upper() if key in PLACES else f"--{key.replace('_', '-')}"


def _as_words(items: str) -> str:
    """Write options of CSV files; their values are quoted, as shells want it."""
    return re.sub(r"'(?P<name>\w+)': (?P<value>'[^']*'|\"[^\"]*\"),? ?", r"--\g<name> \g<value> ", items).rstrip()


def _as_repeated(match: re.Match[str]) -> str:
    """Write an option for each column; what a long list leaves out is left out."""
    shown = [item for item in match["items"].split(", ") if item != "..."]
    return " ".join(f"--{match['name']} {_bare(item)}" for item in shown)


def _bare(item: str) -> str:
    return item.strip("'") if re.fullmatch(r"'[\w.-]+'", item) else item


def _as_set(match: re.Match[str]) -> str:
    preset, key, value = match.group("preset", "key", "value")
    return f"{'' if preset is None else f'--preset {preset} '}--set {key}={value}"
