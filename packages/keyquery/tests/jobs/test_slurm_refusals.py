"""Refusals by sbatch become one line with the cause and one line with a remedy."""

import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

pytest.importorskip("submitit")

from boundpaper.errors import ThesisError
from jobs_work import square
from keyquery.jobs import Resources, slurm, squeue


@pytest.mark.parametrize(
    ("output", "message", "remedy"),
    [
        (
            "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
            "sbatch: fatal: Could not establish a configuration source\n",
            "resolve_ctls_from_dns_srv: res_nsearch error: Unknown host; Could not establish a configuration source",
            "no cluster answers on this machine",
        ),
        (
            "sbatch: error: Unable to contact slurm controller (connect failure)\n",
            "Unable to contact slurm controller (connect failure)",
            "no cluster answers on this machine",
        ),
        (
            "sbatch: error: invalid partition specified: nowhere\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
            "invalid partition specified: nowhere; Batch job submission failed: Invalid partition name specified",
            "`sinfo` lists its partitions",
        ),
        (
            "sbatch: error: Batch job submission failed: Requested time limit is invalid\n",
            "Batch job submission failed: Requested time limit is invalid",
            "`sinfo` lists its partitions",
        ),
    ],
)
def test_a_refusal_is_two_lines(output: str, message: str, remedy: str) -> None:
    first, second = slurm.refusal_lines(output).splitlines()
    assert first == f"Slurm refused the jobs: {message}"
    assert second.startswith(remedy)


def test_queue_that_still_shows_a_finished_job_does_not_end_the_watcher() -> None:
    executor = object.__new__(slurm.SlurmExecutor)
    call = slurm._OpenCall(None, Future())
    call.future.set_result(1)
    executor._update_state("1_0", call, "COMPLETING", 0.0)
    assert call.future.result() == 1


def test_sbatch_output_is_shown_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in squeue.PROGRAMS:
        text = "sbatch: error: invalid account: nobody" if name == "sbatch" else ""
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ThesisError, match="Slurm refused the jobs: invalid account: nobody\n"):
        slurm.SlurmExecutor(tmp_path / "jobs", Resources()).submit(square, 2)
    assert "sbatch" not in capfd.readouterr().err
    assert sys.stderr is not None
