"""The subcommands of ``herald``, one file each.

Each has a function `add_parser` that registers the subcommand's options and the function that runs it; adding
one is adding its module to :data:`COMMANDS`.
"""

from herald_gpu.commands import bench, condense, datasets, demo, doctor, evaluate, plan, reproduce

COMMANDS = (bench, condense, datasets, demo, doctor, evaluate, plan, reproduce)

__all__ = ["COMMANDS"]
