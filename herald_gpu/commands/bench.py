"""``herald bench``: what every stage takes beside its bare kernel, held against the targets."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence
from herald_gpu.errors import ConfigError, TargetsMissed

if TYPE_CHECKING:
    import argparse

    from herald_gpu.bench.results import Results
    from herald_gpu.bench.targets import Verdict

logger = logging.getLogger("herald_gpu")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "measure every stage beside its bare kernel, and hold it against the targets"
    parser = commands.add_parser(
        "bench",
        help=about,
        description=f"{sentence(about)}. What was measured before is kept: a run that was stopped goes on where it "
        "was. Graphs that are not here are left out.",
        examples=["herald bench --quick", "herald bench --only fisher pipeline --output bench", "herald bench --check"],
    )
    parser.set_defaults(run=run, verbose=True)  # it takes long: every case is told
    parser.add_argument("--list", action="store_true", help="list the sections")
    part = parser.add_argument_group("what to run")
    part.add_argument("--only", nargs="+", metavar="NAME", help="these sections only")
    part.add_argument("--again", action="store_true", help="measure anew what is there")
    part.add_argument("--quick", action="store_true", help="small sizes, for a first look: targets are not judged")
    part.add_argument("--render-only", action="store_true", help="run nothing, write the page of what is there")
    part.add_argument("--check", action="store_true", help="measure anew, tell the targets; fails if one is missed")
    output = parser.add_argument_group("output")
    where = "where figures and pages go (default %(default)s)"
    output.add_argument("--output", type=Path, default=Path("bench"), metavar="FOLDER", help=where)
    _shared.add_talk_options(output, json="print the verdicts as JSON")


def run(args: argparse.Namespace) -> None:
    """Run the sections, write the page, tell the targets."""
    from herald_gpu.bench.page import write_page
    from herald_gpu.bench.results import Results
    from herald_gpu.bench.run import bench, chosen
    from herald_gpu.bench.targets import judge

    if args.list:
        found = listed()
        _shared.tell(args, found, "\n".join(f"{name:<14} {about}" for name, about in found.items()))
        return
    sections = chosen(args.only)
    if args.render_only and (args.check or args.again or args.quick):
        msg = "--render-only runs nothing: leave out --check, --again and --quick"
        raise ConfigError(msg)
    results = Results(args.output, quick=None if args.render_only else args.quick)
    if args.render_only and not results.sections:
        msg = f"{results.path} is not there, or empty: there is nothing to render in {args.output}"
        raise ConfigError(msg)
    if args.quick:
        logger.warning("a quick run: sizes are small, and targets are not judged")
    tally: dict[str, int] = {}
    if not args.render_only:
        try:
            tally = bench(results, sections, again=args.again or args.check)
        except KeyboardInterrupt:
            logger.warning("what is done is in %s: run the same again to go on", results.path)
            raise
    files = write_page(results, args.output)
    verdicts = judge(results, sections if args.only else None)
    if args.json:
        print(json.dumps([verdict.to_dict() for verdict in verdicts], indent=2))
    elif not args.quiet:
        tell(results, tally, files, verdicts)
    if args.check:
        check(verdicts)


def listed() -> dict[str, str]:
    """Give the sections with what they are about."""
    from herald_gpu.bench.sections import SECTIONS

    return {name: section.about for name, section in SECTIONS.items()}


def tell(results: Results, tally: dict[str, int], files: list[Path], verdicts: list[Verdict]) -> None:
    """Print what was done, the files, and the targets."""
    done = ", ".join(f"{count} {what}" for what, count in tally.items() if count) or "nothing was run"
    print(f"bench: {done}")
    for path in (results.path, *files):
        print(f"  {path}")
    print()
    width = max((len(verdict.target.name) for verdict in verdicts), default=0)
    for verdict in verdicts:
        target = verdict.target
        value = "" if verdict.value is None else target.told(verdict.value)
        head = f"{verdict.status:<11} {target.name:<{width}}  {target.wanted:<11} {value:<11} {verdict.case}"
        print(head.rstrip())
        if verdict.why and (verdict.value is None or verdict.status == "missed"):
            print(f"{'':<11} {verdict.why}")


def check(verdicts: list[Verdict]) -> None:
    """Fail where a target is missed; what was not judged is no miss, and is said."""
    missed = [verdict for verdict in verdicts if verdict.status == "missed"]
    unsaid = sum(verdict.status == "not judged" for verdict in verdicts)
    if missed:
        names = ", ".join(dict.fromkeys(verdict.target.name for verdict in missed))
        msg = f"{len(missed)} of {len(verdicts)} figures miss their target ({names}); {unsaid} were not judged"
        raise TargetsMissed(msg)
    if unsaid:
        logger.warning("%d of %d figures were not judged", unsaid, len(verdicts))
