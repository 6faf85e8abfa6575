"""The catalogue: names, addresses, checksums."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from herald_gpu.datasets import DATASETS
from herald_gpu.datasets._sums import SUMS
from herald_gpu.datasets.catalogue import canonical, find
from herald_gpu.errors import ConfigError


def test_the_graphs_of_the_paper_and_more_are_known():
    wanted = (
        "cora citeseer pubmed chameleon squirrel actor roman-empire amazon-ratings amazon-photo amazon-computers "
        "coauthor-cs coauthor-physics blogcatalog flickr reddit ogbn-arxiv ogbn-products"
    )
    assert set(wanted.split()) <= set(DATASETS)


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_entries_are_well_formed(dataset):
    assert canonical(dataset.name) == dataset.name
    assert dataset.files
    assert dataset.source
    assert dataset.licence
    assert min(dataset.sizes) >= 2
    assert len({file.name for file in dataset.files}) == len(dataset.files)
    for file in dataset.files:
        assert file.url.startswith("https://")
        assert file.url.endswith(f"/{file.name}")
        assert file.checksum is None or re.fullmatch(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.checksum)


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_what_lies_in_a_repository_is_pinned_to_a_commit_and_has_a_checksum(dataset):
    for file in dataset.files:
        if "raw.githubusercontent.com" in file.url:
            assert re.match(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/", file.url)
            assert file.checksum is not None


def test_every_checksum_is_used():
    assert {file.name for dataset in DATASETS.values() for file in dataset.files if file.checksum} == set(SUMS)


@pytest.mark.parametrize(
    ("name", "kind"), [("cora", "sha256"), ("roman-empire", "git"), ("flickr", "first use"), ("reddit", "first use")]
)
def test_how_files_are_verified(name, kind):
    assert DATASETS[name].verification == kind


@pytest.mark.parametrize("name", ["Roman-Empire", "roman_empire", " ROMAN EMPIRE "])
def test_names_are_read_kindly(name):
    assert find(name).name == "roman-empire"


def test_a_name_that_is_nearly_right():
    with pytest.raises(
        ConfigError, match=r"^name='coras' is no known data set: did you mean 'cora'\? Pass one of cora"
    ):
        find("coras")


@pytest.mark.parametrize("name", ["", "../cora", "a/b", ".hidden", "a b\\c", None, 3.5j])
def test_what_is_no_name(name):
    with pytest.raises(ConfigError, match=r"is no name of a data set|is no known data set"):
        find(name)


def test_the_documentation_lists_them_all():
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    if not page.is_file():
        pytest.skip("the documentation is not part of this copy")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text("utf-8").splitlines()]
    kinds = {"SHA-256": "sha256", "git id": "git", "first use": "first use"}
    seen = {
        row[0]: ([int(cell.replace(",", "")) for cell in row[1:5]], row[5], kinds[row[6]], row[7])
        for row in rows
        if len(row) == 8 and row[6] in kinds
    }
    assert seen == {
        name: (list(dataset.sizes), dataset.source, dataset.verification, dataset.licence)
        for name, dataset in DATASETS.items()
    }
