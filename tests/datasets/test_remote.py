"""Published files: checksums known beforehand, git's, and those written down at first use."""

from __future__ import annotations

import hashlib

import pytest

from herald_gpu.datasets.remote import RemoteFile, digest, obtain, write_down
from herald_gpu.errors import DatasetError

CONTENT = b"what is published"
SHA = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
GIT = f"git:{hashlib.sha1(b'blob 17' + bytes(1) + CONTENT, usedforsecurity=False).hexdigest()}"


def test_git_gives_the_id_it_is_known_for(tmp_path):
    (tmp_path / "hello").write_bytes(b"hello world\n")
    assert digest(tmp_path / "hello", "git") == "git:3b18e512dba79e4c8300dd08aeb37f8e728b8dad"


@pytest.mark.parametrize("checksum", [SHA, GIT, None])
def test_the_right_file(site, tmp_path, checksum):
    path = obtain(RemoteFile(site.put("f", CONTENT), "f", checksum), tmp_path / "new", network=True)
    assert path.read_bytes() == CONTENT
    assert obtain(RemoteFile("http://nowhere", "f", checksum), tmp_path / "new", network=False) == path


@pytest.mark.parametrize("checksum", [SHA, GIT])
def test_the_wrong_file_is_deleted_and_told(site, tmp_path, checksum):
    url = site.put("f", CONTENT + b"!")
    with pytest.raises(DatasetError, match=rf"f from {url} has checksum .*, not {checksum}: it was deleted"):
        obtain(RemoteFile(url, "f", checksum), tmp_path, network=True)
    assert list(tmp_path.iterdir()) == []
    site.put("f", CONTENT)
    assert obtain(RemoteFile(url, "f", checksum), tmp_path, network=True).read_bytes() == CONTENT


def test_a_file_that_rotted_on_disk(tmp_path):
    (tmp_path / "f").write_bytes(b"rotten")
    with pytest.raises(DatasetError, match="was deleted"):
        obtain(RemoteFile("http://nowhere", "f", SHA), tmp_path, network=False)
    assert not (tmp_path / "f").exists()


def test_no_network_no_file(tmp_path):
    with pytest.raises(DatasetError, match="is not there, and the network may not be used"):
        obtain(RemoteFile("http://nowhere", "f", SHA), tmp_path, network=False)


def test_what_is_seen_first_holds_from_then_on(site, tmp_path, caplog):
    file = RemoteFile(site.put("f", CONTENT), "f")
    obtain(file, tmp_path, network=True)
    assert file.expected(tmp_path) is None
    with caplog.at_level("INFO"):
        write_down(file, tmp_path)
    assert "no checksum is published" in caplog.text
    assert (tmp_path / "f.sha256").read_text() == f"{SHA.partition(':')[2]}  f\n"
    assert file.expected(tmp_path) == SHA

    (tmp_path / "f").unlink()
    site.put("f", b"something else")
    with pytest.raises(
        DatasetError, match=r"not sha256:.*or delete .*f\.sha256 if the source is known to have changed"
    ):
        obtain(file, tmp_path, network=True)
    write_down(file, tmp_path)
    assert file.expected(tmp_path) == SHA


def test_published_checksums_are_not_written_down(site, tmp_path):
    file = RemoteFile(site.put("f", CONTENT), "f", SHA)
    obtain(file, tmp_path, network=True)
    write_down(file, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
