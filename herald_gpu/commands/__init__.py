"""The subcommands of ``herald``, one file each.

Each has a function `add_parser` that registers the subcommand's options and the function that runs it; adding
one is adding its module to :data:`COMMANDS`. Its parser is a :class:`~herald_gpu.commands._parser.CommandParser`,
which brings ``--config``, examples and completion.
"""

from herald_gpu.commands import (
    bench,
    completion,
    condense,
    convert,
    datasets,
    demo,
    doctor,
    evaluate,
    plan,
    report,
    reproduce,
    sweep,
)

COMMANDS = (condense, sweep, report, convert, evaluate, plan, demo, datasets, doctor, bench, reproduce, completion)

__all__ = ["COMMANDS"]
