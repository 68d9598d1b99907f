"""Analyse heads by jobs on a real one-node Slurm: `make test-slurm`."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from boundpaper.store.table_file import table_text
from conftest import copy_project, run

CONTEXT, BUCKETS, DOCUMENTS, D = 800, 4, 40, 8
HEADS = 4
TWO_JOBS = ("--executor", "slurm", "--jobs", "2", "--minutes", "10", "--memory", "0.9")
SECONDS = 240.0  # time limit of a command, in seconds


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project beside a capture of four heads that read two key heads, with random vectors."""
    root = tmp_path_factory.mktemp("heads")
    rng = np.random.default_rng(0)
    for name in [f"l00h{head:02d}q" for head in range(HEADS)] + ["l00h00k", "l00h01k"]:
        position = np.tile(np.arange(0, CONTEXT, CONTEXT // 16), DOCUMENTS)
        rows = {
            "bucket": arrow.array(position * BUCKETS // CONTEXT, arrow.int32()),
            "example_id": arrow.array(np.repeat(np.arange(DOCUMENTS), 16), arrow.int32()),
            "position": arrow.array(position, arrow.int32()),
            "vector": arrow.array(rng.normal(size=(position.size, D)).tolist(), arrow.list_(arrow.float32(), D)),
        }
        (root / "capture" / name).mkdir(parents=True)
        parquet.write_table(arrow.table(rows), root / "capture" / name / "data.parquet")
    copy_project(root / "project")
    return root


def heads(lab: Path, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run `heads` without PYTHONPATH: the command itself must tell its jobs where the project is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    given = ["heads", str(lab / "capture"), "--context", str(CONTEXT), "--group", "2", "--name", name]
    return run(lab / "project", *given, *more, env=environment, timeout=SECONDS)


def tables(lab: Path, name: str) -> dict[str, str]:
    files = sorted((lab / "project/artifacts/measurements").glob(f"*/{name}.[cp]*"))
    return {path.parent.name: table_text(path).replace(name, "MODEL") for path in files}


def findings(lab: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (lab / "project/out/heads").glob("*.json")}


def test_heads_command_on_slurm_resumes_and_equals_a_local_run(lab: Path) -> None:
    first = heads(lab, "there", *TWO_JOBS)
    assert first.returncode == 0, first.stderr
    for share in (1, 2):
        assert f"share {share} of 2: finished" in first.stderr
    (script,) = (lab / "project/out/heads/jobs/slurm").glob("*_submission.sh")
    assert "#SBATCH --array=0-1%2\n" in script.read_text()
    before = findings(lab)
    assert len(before) == HEADS

    lost = min(before)
    (lab / "project/out/heads" / lost).unlink()
    again = heads(lab, "again", *TWO_JOBS)
    assert again.returncode == 0, again.stderr
    assert "share 1 of 1: finished" in again.stderr
    after = findings(lab)
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == [lost]

    for name in before:
        (lab / "project/out/heads" / name).unlink()
    alone = heads(lab, "alone", "--jobs", "1")
    assert alone.returncode == 0, alone.stderr
    assert "head_metrics" in tables(lab, "alone")
    assert tables(lab, "there") == tables(lab, "again") == tables(lab, "alone")
