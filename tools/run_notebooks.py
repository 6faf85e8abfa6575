"""Execute the notebooks, each in a process of its own.

Run ``python tools/run_notebooks.py`` (or ``make notebooks``); executed copies, with their outputs and the
files that they write, go to ``build/notebooks``. ``HERALD_NOTEBOOK_SIZE=small`` makes it a matter of a minute or two.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "notebooks"
LONGEST_CELL = 1800


def notebooks() -> list[Path]:
    """List the notebooks in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path, folder: Path) -> NotebookNode:
    """Execute a notebook in a folder and give it with its outputs.

    Parameters
    ----------
    path : Path
    folder : Path
        Where it runs, and writes its files.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(book, kernel_name="python3", timeout=LONGEST_CELL, resources=where).execute()
    return book


def main() -> None:
    """Execute those that are named, or all."""
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="how their names begin, such as 01 04; by default all")
    parser.add_argument("--output", type=Path, default=Path("build/notebooks"), help="folder of executed copies")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    for path in notebooks():
        if not given.names or path.name.startswith(tuple(given.names)):
            start = time.perf_counter()
            book = execute(path, given.output)
            nbformat.write(book, given.output / path.name)  # type: ignore[no-untyped-call]
            sys.stdout.write(f"{path.stem:<30}{time.perf_counter() - start:6.1f} s\n")


if __name__ == "__main__":
    main()
