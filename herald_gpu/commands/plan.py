"""``herald plan``: predict work, memory and time of a condensation on a device."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from herald_gpu.commands._parser import sentence
from herald_gpu.commands._values import share
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from herald_gpu.planning import DeviceSpec, Plan, WorkerPlan

DEFAULT_DEVICE = "A100-80GB"
PRESETS = ("default", "paper")
GIGA, TERA = 1e9, 1e12


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "predict work, memory and time of a condensation on a device"
    parser = commands.add_parser(
        "plan",
        help=about,
        description=f"{sentence(about)}.",
        examples=[
            "herald plan --nodes 232965 --edges 114615892 --features 602 --classes 41 --device H100",
            "herald plan --nodes 1000000 --edges 20000000 --features 100 --classes 10 --memory 24 --bandwidth 1000",
            "herald plan --nodes 111059956 --edges 3231371744 --features 128 --classes 172 --workers 8",
        ],
    )
    parser.set_defaults(run=run, verbose=False)
    graph = parser.add_argument_group("graph")
    graph.add_argument("--nodes", metavar="N", type=int, required=True, help="number of nodes")
    graph.add_argument(
        "--edges", metavar="E", type=int, required=True, help="directed edges: every undirected edge counts twice"
    )
    graph.add_argument("--features", metavar="F", type=int, required=True, help="number of features")
    graph.add_argument("--classes", metavar="C", type=int, required=True, help="number of classes")
    graph.add_argument(
        "--density", type=float, default=1.0, help="share of feature values that are not zero (default %(default)s)"
    )
    graph.add_argument("--binary", action="store_true", help="all of those are 1")
    graph.add_argument("--train-share", type=float, default=0.56, help="share of training nodes (default %(default)s)")
    graph.add_argument("--on-device", action="store_true", help="it is on the device already, as cuDF or CuPy")
    graph.add_argument("--degree-skew", type=float, help="mean squared degree over squared mean degree")
    graph.add_argument("--class-skew", type=float, help="the same of the classes' training nodes (default 1)")
    wanted = parser.add_argument_group("run")
    wanted.add_argument("--ratio", type=share, default=0.01, help="share of the storage to keep (default %(default)s)")
    wanted.add_argument(
        "--preset", choices=PRESETS, default="default", help="the options to plan for (default %(default)s)"
    )
    wanted.add_argument(
        "--feature-count", metavar="K", type=int, help="kept features (default: what the preset tries; paper: all)"
    )
    device = parser.add_argument_group("device", "one of the table, or your own by its numbers")
    device.add_argument(
        "--device", metavar="NAME", help=f"T4, L4, H100, ...; cpu with numbers (default {DEFAULT_DEVICE})"
    )
    device.add_argument("--memory", metavar="GB", type=float, help="device memory, in 10^9 bytes")
    device.add_argument("--bandwidth", metavar="GB/S", type=float, help="memory bandwidth, in 10^9 bytes a second")
    device.add_argument("--fp32", metavar="TFLOPS", type=float, help="single-precision peak, in 10^12 a second")
    device.add_argument("--fp64", metavar="TFLOPS", type=float, help="double-precision peak, in 10^12 a second")
    workers = parser.add_argument_group("Dask workers")
    workers.add_argument(
        "--workers", metavar="N", type=int, help="plan for so many, each with a partition and a device"
    )
    workers.add_argument(
        "--link", metavar="GB/S", type=float, default=25.0, help="what a worker can receive (default %(default)s)"
    )
    workers.add_argument(
        "--local", type=float, default=0.0, help="share of edges inside partitions beyond chance (default %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the plan as JSON instead of a table")


def run(args: argparse.Namespace) -> None:
    """Make the plan and print it."""
    import herald_gpu
    from herald_gpu.planning import plan_workers

    graph: tuple[int, int, int] = (args.nodes, args.edges, args.features)
    common: dict[str, Any] = {
        "n_classes": args.classes,
        "ratio": args.ratio,
        "train_share": args.train_share,
        "density": args.density,
        "binary": args.binary,
        "feature_count": args.feature_count,
        "config": herald_gpu.HeraldConfig.paper() if args.preset == "paper" else None,
        "device": read_device(args),
    }
    found: Plan | WorkerPlan
    if args.workers is not None:
        found = plan_workers(*graph, workers=args.workers, link=args.link * GIGA, local=args.local, **common)
    else:
        skews: dict[str, Any] = {"degree_skew": args.degree_skew, "class_skew": args.class_skew}
        found = herald_gpu.plan(*graph, on_device=args.on_device, **(skews | common))
    print(json.dumps(found.to_dict(), indent=2) if args.json else found)


def read_device(args: argparse.Namespace) -> DeviceSpec:
    """Find the device that the options describe: a known one, changed where numbers are given, or a new one."""
    from herald_gpu.planning import DeviceSpec, find_device

    scales = {"memory_bytes": GIGA, "bandwidth": GIGA, "fp32": TERA, "fp64": TERA}
    options = {"memory_bytes": args.memory, "bandwidth": args.bandwidth, "fp32": args.fp32, "fp64": args.fp64}
    given: dict[str, Any] = {name: options[name] * scales[name] for name in scales if options[name] is not None}
    if "memory_bytes" in given:
        given["memory_bytes"] = int(given["memory_bytes"])
    own = args.device == "cpu" or (args.device is None and given)
    if not own:
        known = find_device(args.device or DEFAULT_DEVICE)
        return dataclasses.replace(known, name=f"{known.name}, changed", **given) if given else known
    absent = [name for name in ("memory", "bandwidth") if getattr(args, name) is None]
    if absent:
        msg = f"--{' and --'.join(absent)} missing: pass both, in 10^9 bytes, to describe a device that has no name"
        raise ConfigError(msg)
    if args.device == "cpu":
        given |= {"name": "cpu", "context_bytes": 0}
    return DeviceSpec(**given)
