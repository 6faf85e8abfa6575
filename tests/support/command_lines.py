"""Command lines in files that start our programs, read as those programs would read them."""

from __future__ import annotations

import re

CUDA_WORKER = frozenset(
    {"--dashboard-address", "--death-timeout", "--enable-cudf-spill", "--local-directory", "--memory-limit"}
    | {"--name", "--nthreads", "--scheduler-file"}
)
"""Options of ``dask cuda worker`` that dask-cuda 26.10 has and we use; it is installed on machines with GPUs only."""


def filled(text):
    """Put the defaults of ``${NAME:-default}`` in their places."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def read_command(words):
    """Parse a command line; gives its options by name, and fails as the program itself would."""
    words = [filled(str(word)) for word in words]
    if words[0] == "herald":
        return _herald(words[1:])
    assert words[0] == "dask", words
    if words[1:3] == ["cuda", "worker"]:
        return _cuda_worker(words[3:])
    return _dask(words[1], words[2:])


def _herald(words):
    from herald_gpu.cli import build_parser

    return vars(build_parser().parse_args(words))


def _dask(name, words):
    import importlib

    command = importlib.import_module(f"distributed.cli.dask_{name}").main
    found = command.make_context(f"dask {name}", list(words)).params
    # Unknown options may pass for the address, or for words of a preloaded module.
    assert not str(found.get("scheduler") or "").startswith("-"), words
    assert not found["preload_argv"], words
    return found


def _cuda_worker(words):
    """Read words of ``dask cuda worker``: options with a value, one flag, and an address."""
    found, rest = {}, list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("-"):
            assert "scheduler" not in found, words
            found["scheduler"] = name
            continue
        assert name in CUDA_WORKER, f"dask cuda worker has no {name}, or it is not in the list of those we use"
        if name == "--enable-cudf-spill":
            value = True
        elif not equals:
            value = rest.pop(0)
        found[name.removeprefix("--").replace("-", "_")] = value
    return found
