"""``python -m herald_gpu`` is the command ``herald``."""

import sys

from herald_gpu.cli import command

if __name__ == "__main__":
    sys.exit(command())
