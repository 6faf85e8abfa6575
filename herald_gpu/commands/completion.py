"""``herald completion``: a script that teaches a shell to complete the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.commands._parser import sentence
from herald_gpu.commands._shells import SHELLS

if TYPE_CHECKING:
    import argparse

SET_UP = """set-up:
  bash   add to ~/.bashrc:  eval "$(herald completion bash)"
  zsh    add to ~/.zshrc, after compinit:  eval "$(herald completion zsh)"
  fish   herald completion fish > ~/.config/fish/completions/herald.fish"""


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "print a script that teaches a shell to complete this command"
    parser = commands.add_parser(
        "completion",
        help=about,
        description=f"{sentence(about)}.\n\n{SET_UP}",
        examples=["herald completion bash", "herald completion zsh", "herald completion fish"],
    )
    parser.set_defaults(run=run)
    parser.add_argument("shell", choices=tuple(SHELLS), help="for which shell")


def run(args: argparse.Namespace) -> None:
    """Write the script from the parser that is in use."""
    from herald_gpu.cli import build_parser

    print(SHELLS[args.shell](build_parser()), end="")
