"""Capture a model by jobs on a real one-node Slurm: `make test-slurm`."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import capture_lab, run

CONTEXT, DOCUMENTS = 32, 5  # two jobs, of three and of two documents
TWO_JOBS = ("--executor", "slurm", "--jobs", "2", "--minutes", "10", "--memory", "0.9")
SECONDS = 120.0  # time limit of a command, in seconds


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, a model folder and texts."""
    return capture_lab(tmp_path_factory.mktemp("lab"), DOCUMENTS)


@pytest.fixture(scope="module")
def here(lab: Path) -> Path:
    """Return the folder of the same capture made on this machine without jobs."""
    result = capture(lab, lab / "here")
    assert result.returncode == 0, result.stderr
    return lab / "here"


def arguments(lab: Path, out: Path, texts: str = "texts.jsonl") -> list[str]:
    options = ["--model", str(lab / "tiny"), "--texts", str(lab / texts), "--context", str(CONTEXT), "--buckets", "4"]
    return ["capture", *options, "--rate", "8", "--dtype", "fp32", "--device", "cpu", "--out", str(out)]


def clean_environment() -> dict[str, str]:
    """Return the environment without PYTHONPATH: the command itself must tell its jobs where the project is."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def capture(lab: Path, out: Path, *more: str, texts: str = "texts.jsonl") -> subprocess.CompletedProcess[str]:
    return run(lab / "project", *arguments(lab, out, texts), *more, env=clean_environment(), timeout=SECONDS)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def scripts(folder: Path) -> list[Path]:
    return sorted((folder / ".jobs/slurm").glob("*_submission.sh"))


def logs(folder: Path) -> list[str]:
    return [path.read_text() for path in (folder / ".jobs").glob("*/log.txt")]


def test_capture_in_two_slurm_shards_equals_a_local_capture(lab: Path, here: Path, tmp_path: Path) -> None:
    on_slurm = tmp_path / "there"
    result = capture(lab, on_slurm, *TWO_JOBS)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(on_slurm)
    for share in (1, 2):
        assert f"share {share} of 2: finished" in result.stderr
    assert len(contents(here)) == 18  # 12 query heads and 6 key heads
    assert contents(on_slurm) == contents(here)
    notes = [json.loads((folder / "manifest.json").read_text()) for folder in (here, on_slurm)]
    assert notes[1] == notes[0]
    assert notes[1]["complete"]

    (script,) = scripts(on_slurm)
    for line in ("--array=0-1%2", "--time=10"):
        assert f"#SBATCH {line}\n" in script.read_text()
    assert [log.count("--- ") for log in logs(on_slurm)] == [1, 1]
    assert len(list((on_slurm / ".jobs/slurm").glob("*_log.out"))) == 2

    before = {path: path.stat().st_mtime_ns for path in on_slurm.rglob("*") if path.is_file()}
    again = capture(lab, on_slurm, *TWO_JOBS)
    assert again.returncode == 0, again.stderr
    assert "already captured" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in on_slurm.rglob("*") if path.is_file()} == before


def test_failed_slurm_capture_keeps_its_logs_and_resumes(lab: Path, here: Path, tmp_path: Path) -> None:
    rows = (lab / "texts.jsonl").read_text().split("\n")
    short = json.dumps({"id": "t2", "text": "w4 w5 w6"})
    (lab / "mended.jsonl").write_text("\n".join([*rows[:2], short, *rows[3:]]))
    on_slurm = tmp_path / "there"
    failed = capture(lab, on_slurm, *TWO_JOBS, texts="mended.jsonl")
    assert failed.returncode == 1, failed.stderr
    reason = "text t2 has 4 tokens, fewer than the context of 32"
    for share in (1, 2):
        assert re.search(f"  share {share} of 2: .*{reason}", failed.stderr)
    assert "Traceback" not in failed.stderr
    assert [reason in log and "Traceback" in log for log in logs(on_slurm)] == [True, True]

    (lab / "mended.jsonl").write_text("\n".join(rows))
    mended = capture(lab, on_slurm, *TWO_JOBS, texts="mended.jsonl")
    assert mended.returncode == 0, mended.stderr
    assert contents(on_slurm) == contents(here)
    assert len(scripts(on_slurm)) == 2
    assert [log.count("--- ") for log in logs(on_slurm)] == [2, 2]


def test_killed_capture_command_reuses_the_results_of_its_jobs(lab: Path, here: Path, tmp_path: Path) -> None:
    on_slurm = tmp_path / "there"
    command = [sys.executable, "build.py", *arguments(lab, on_slurm), *TWO_JOBS]
    killed = subprocess.Popen(command, cwd=lab / "project", env=clean_environment(), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + SECONDS
    while len(logs(on_slurm)) < 2:
        assert killed.poll() is None, "the command was not killed"
        assert time.monotonic() < deadline, "the jobs did not start"
        time.sleep(0.1)
    killed.kill()
    killed.wait()
    result = capture(lab, on_slurm, *TWO_JOBS)
    assert result.returncode == 0, result.stderr
    assert contents(on_slurm) == contents(here)


def test_unknown_slurm_partition_is_reported_with_the_message_of_slurm(lab: Path, tmp_path: Path) -> None:
    result = capture(lab, tmp_path / "there", "--executor", "slurm", "--partition", "nowhere")
    assert result.returncode == 1, result.stderr
    assert "invalid partition specified: nowhere" in result.stderr
    assert "Traceback" not in result.stderr
