"""Downloads over a real connection: cut, resumed, refused, changed at the source."""

from __future__ import annotations

import pytest

from herald_gpu.datasets import download
from herald_gpu.datasets.download import download as fetch
from herald_gpu.errors import DatasetError

CONTENT = bytes(range(256)) * 4096


@pytest.fixture
def target(tmp_path):
    return tmp_path / "file.bin"


def only_the_file(target):
    return target.read_bytes() == CONTENT and [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_file_arrives_whole(site, target):
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)
    assert [headers for _, headers in site.asked] == [{"Range": None, "If-Range": None}]


def test_an_empty_file(site, target):
    fetch(site.put("f", b""), target, verified=True)
    assert target.read_bytes() == b""


def test_without_a_length_it_is_read_to_the_end(site, target):
    site.says_length = False
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)


def test_a_cut_connection_is_resumed_where_it_broke(site, target):
    site.cuts = [300_000, 200_000]
    fetch(site.put("f", CONTENT), target, verified=False)
    assert only_the_file(target)
    assert [headers["Range"] for _, headers in site.asked] == [None, "bytes=300000-", "bytes=500000-"]
    assert [headers["If-Range"] for _, headers in site.asked] == [None, '"one"', '"one"']


def test_a_cut_in_a_stream_without_a_length_is_noticed(site, target):
    site.chunked = True
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=False)
    assert only_the_file(target)
    first, second = (headers["Range"] for _, headers in site.asked)
    assert first is None
    assert 0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 300_000


def test_a_server_that_falls_silent_is_asked_again(site, target, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    site.cuts, site.stalls = [300_000], [True]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)
    assert len(site.asked) == 2


def test_a_later_run_goes_on_where_the_first_stopped(site, target, monkeypatch):
    url = site.put("f", CONTENT)
    site.cuts = [300_000]
    with monkeypatch.context() as patch:
        patch.setattr(download, "ATTEMPTS", 1)
        with pytest.raises(DatasetError, match=r"could not be downloaded \(300000 of 1048576 bytes came\)"):
            fetch(url, target, verified=False)
    assert not target.exists()
    fetch(url, target, verified=False)
    assert only_the_file(target)
    assert site.asked[-1][1]["Range"] == "bytes=300000-"


def test_a_server_that_ignores_ranges_sends_all_again(site, target):
    site.ranges = False
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)
    assert site.asked[1][1]["Range"] == "bytes=300000-"


def test_a_file_that_changed_meanwhile_is_taken_from_the_start(site, target, monkeypatch):
    url = site.put("f", b"old" * 100_000)
    site.cuts = [1000]
    with monkeypatch.context() as patch:
        patch.setattr(download, "ATTEMPTS", 1)
        with pytest.raises(DatasetError):
            fetch(url, target, verified=False)
    site.put("f", CONTENT)
    site.headers = {"ETag": '"two"'}
    fetch(url, target, verified=False)
    assert only_the_file(target)


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}])
def test_unverified_parts_are_not_trusted_without_a_validator(site, target, headers):
    site.headers = headers
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=False)
    assert only_the_file(target)
    assert [asked["Range"] for _, asked in site.asked] == [None, None]


def test_a_date_serves_where_there_is_no_strong_tag(site, target):
    site.headers = {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=False)
    assert target.read_bytes() == CONTENT
    assert site.asked[1][1]["If-Range"] == "Mon, 01 Jan 2024 00:00:00 GMT"


def test_verified_parts_are_resumed_without_a_validator(site, target):
    site.headers = {}
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)
    assert site.asked[1][1] == {"Range": "bytes=300000-", "If-Range": None}


def test_a_part_that_is_complete_already(site, target):
    url = site.put("f", CONTENT)
    target.with_name("file.bin.part").write_bytes(CONTENT)
    fetch(url, target, verified=True)
    assert only_the_file(target)


def test_a_part_that_is_longer_than_the_file(site, target):
    url = site.put("f", CONTENT)
    target.with_name("file.bin.part").write_bytes(CONTENT + b"more")
    fetch(url, target, verified=True)
    assert only_the_file(target)


def test_a_range_that_was_not_asked_for(site, target):
    site.shift = -7
    site.cuts = [300_000]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)


@pytest.mark.parametrize("status", [404, 403, 410])
def test_refusals_that_stay_are_told_at_once(site, target, status):
    site.refusals = [(status, {})]
    with pytest.raises(DatasetError, match=rf"{site.url}/f answers HTTP {status} .*: the source may have moved"):
        fetch(f"{site.url}/f", target, verified=True)
    assert len(site.asked) == 1
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("status", [500, 503, 429])
def test_refusals_that_may_pass_are_tried_again(site, target, status):
    site.refusals = [(status, {}), (status, {"Retry-After": "0"})]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)
    assert len(site.asked) == 3


def test_a_server_that_never_recovers(site, target):
    site.refusals = [(503, {})] * 9
    with pytest.raises(DatasetError, match=r"could not be downloaded \(HTTP 503\): check the network"):
        fetch(site.put("f", CONTENT), target, verified=True)
    assert len(site.asked) == download.ATTEMPTS


def test_failures_count_only_in_a_row(site, target, monkeypatch):
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    site.cuts = [100_000] * 6
    fetch(site.put("f", CONTENT), target, verified=True)
    assert only_the_file(target)


def test_waits_double_and_the_server_may_ask_for_its_own(site, target, monkeypatch):
    waits = []
    monkeypatch.setattr(download, "FIRST_WAIT", 1.0)
    monkeypatch.setattr(download.time, "sleep", waits.append)
    site.refusals = [(503, {}), (503, {}), (503, {"Retry-After": "900"}), (503, {})]
    fetch(site.put("f", CONTENT), target, verified=True)
    assert waits == [1.0, 2.0, download.LONGEST_WAIT, 8.0]


def test_nobody_listens(site, target):
    url = site.put("f", CONTENT).replace(site.url, "http://127.0.0.1:1")
    with pytest.raises(DatasetError, match=r"127\.0\.0\.1:1/f could not be downloaded .*refused"):
        fetch(url, target, verified=True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/file", "f"])
def test_other_kinds_of_addresses_are_refused(target, url):
    with pytest.raises(DatasetError, match="pass an http or https address"):
        fetch(url, target, verified=True)
