"""Errors speak of options, not of arguments of Python."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from herald_gpu.commands._wording import in_options, told

ARGS = argparse.Namespace(
    seed=-1,
    source="src",
    node="node",
    label="label",
    number_rows=False,
    train_column="train",
    drop=[],
    categorical=[],
    separator=None,
    features=Path("nodes.csv"),
    nodes=4,
    set=[],
    scaled=True,
    output="no/small.herald",
    result=Path("gone.herald"),
)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("random_state=-1 is not valid: pass an integer >= 0", "--seed -1 is not valid: pass an integer >= 0"),
        ("n_nodes=4 is not valid", "--nodes 4 is not valid"),
        ("name it with source=, or train_column=", "name it with --source, or --train-column"),
        ("for example source='from'", "for example --source 'from'"),
        ("pass node='id', or node=None if rows", "pass --node 'id', or --number-rows if rows"),
        ("pass labels=, or name it with label= (there is none)", "name it with --label (there is none)"),
        ("no column 'use': correct train_column=, or pass train=", "no column 'use': correct --train-column"),
        ("feats has 3 missing node ids", "--features has 3 missing node ids"),
        ("scaled=True is for the full graph only", "--scaled is for the full graph only"),
        ("depth=1 has no effect", "depth=1 has no effect"),  # a field of --set
        ("pass HeraldConfig.paper(depth=1)", "pass --preset paper --set depth=1"),
        ("or HeraldConfig(on_infeasible='best_effort') for", "or --set on_infeasible=best_effort for"),
        ("path='no/small.herald': no such folder", "--output no/small.herald: no such folder"),
        ("path='gone.herald' is no zip file", "RESULT gone.herald is no zip file"),
        ("path='other' is no zip file", "path='other' is no zip file"),
        (
            "columns ['a', 'b c', ...] are text: pass categorical=['a', 'b c', ...]",
            "columns ['a', 'b c', ...] are text: pass --categorical a --categorical 'b c'",
        ),
        ("pass drop=['city'] to leave it out", "pass --drop city to leave it out"),
        ("correct drop=", "correct --drop"),
        ("nodes.csv: pass csv={'separator': ';'}", "nodes.csv: pass --separator ';'"),
        ("as in csv={'separator': ';', 'decimal': ','}", "as in --separator ';' --decimal ','"),
        ("pass csv={'separator': '\\t'}", "pass --separator '\\t'"),
        ("the source of 'seed=3' and nodes", "the source of 'seed=3' and nodes"),
    ],
)
def test_arguments_become_options(message, wanted):
    assert in_options(message, ARGS) == wanted


def test_nothing_is_changed_before_anything_was_parsed():
    assert in_options("seed=3", None) == "seed=3"


def test_files_are_named_by_their_option():
    gone = FileNotFoundError(2, "No such file or directory", "nodes.csv")
    assert told(gone, ARGS) == "--features nodes.csv: No such file or directory: check the path"
    assert told(gone, None) == "nodes.csv: No such file or directory: check the path"
    assert told(OSError("disk on fire"), ARGS) == "disk on fire"
