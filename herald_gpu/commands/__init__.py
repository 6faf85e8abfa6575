"""The subcommands of ``herald``, one file each.

Each has a function `add_parser` that registers the subcommand's options and the function that runs it; adding
one is adding its module to :data:`COMMANDS`.
"""

from herald_gpu.commands import condense, datasets, demo, doctor, evaluate, plan, report, reproduce

COMMANDS = (condense, datasets, demo, doctor, evaluate, plan, report, reproduce)

__all__ = ["COMMANDS"]
