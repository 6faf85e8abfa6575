"""How the command ends when somebody else ends it: nothing half-written stays, and nobody sees a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

SLOW = """
import signal, sys, time, zipfile
from herald_gpu.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have switched it off
write = zipfile.ZipFile.writestr

def slowly(*args, **options):
    write(*args, **options)
    print("writing", flush=True)
    time.sleep(60)

zipfile.ZipFile.writestr = slowly
sys.exit(main(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
@pytest.mark.parametrize("output", ["small.herald", "small/"])
@pytest.mark.parametrize("before", [False, True])
def test_a_signal_while_a_result_is_written(tmp_path, sent, code, said, output, before):
    target = tmp_path / output
    if before and output.endswith("/"):
        target.mkdir()
        (target / "report.json").write_text("old")
    elif before:
        target.write_text("old")
    argv = ["demo", "--nodes", "300", "--ratio", "0.1", "--quiet", "--force", "--output", f"{tmp_path}/{output}"]
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", SLOW, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "writing\n"
        assert any(path.name.endswith((".partial", ".partial.herald")) for path in tmp_path.iterdir())
        process.send_signal(sent)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors == f"herald: error: {said}\n"
    assert [path.name for path in tmp_path.iterdir()] == ([target.name] if before else [])
    if before:
        assert (target / "report.json" if target.is_dir() else target).read_text() == "old"


@pytest.mark.parametrize("argv", [["datasets", "--json"], ["completion", "bash"], ["doctor"]])
def test_a_pipe_that_nobody_reads(argv):
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "herald_gpu", *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 141
