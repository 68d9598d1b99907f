"""Run an experiment on two models, each in a job on a real one-node Slurm: `make test-slurm`."""

import os
import shutil
import subprocess
from pathlib import Path

from boundpaper.store.table_file import table_text
from conftest import copy_project, run

MODELS = ("tiny-rope", "tiny-drope")
COMMAND = (
    f"run attention_patterns --items 0 --documents 1 --tokens 32 --again --model {MODELS[0]} --against {MODELS[1]}"
)
ON_SLURM = "--executor slurm --partition main --account physics --qos normal --constraint lab --cpus 1 --minutes 11"
MORE_OPTIONS = ("--memory", "0.9", "--at-once", "1", "--setup", GREETING := "export LAB_GREETING='hello there'")
SCRIPT_LINES = ("account=physics", "qos=normal", "constraint=lab", "partition=main", "cpus-per-task=1", "time=11")
JOB_FIELDS = ("Features=lab", "Partition=main", "TimeLimit=00:11:00", "CPUs/Task=1")
SECONDS = 600.0  # time limit of the command, in seconds


def tables(root: Path, *more: str) -> list[str]:
    """Run the command with PYTHONPATH unset (the command must set it for its jobs); return both models' tables."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    result = run(root, *COMMAND.split(), "--replace", *more, env=environment, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    assert [name for name in MODELS if f"{name}: finished" in result.stderr] == list(MODELS if more else ())
    folder = root / "artifacts/measurements/attention_patterns"
    return [table_text(next(folder.glob(f"{name}.[cp]*"))) for name in MODELS]


def test_two_models_are_a_job_each_with_all_options_and_equal_a_local_run(tmp_path: Path) -> None:
    root = copy_project(tmp_path / "project")
    measured = tables(root, *ON_SLURM.split(), *MORE_OPTIONS)
    (script,) = (root / "out/experiments/jobs/slurm").glob("*_submission.sh")
    lines = script.read_text().splitlines()
    assert {*(f"#SBATCH --{word}" for word in SCRIPT_LINES), "#SBATCH --array=0-1%1", GREETING} <= set(lines)
    # Slurm describes its jobs for some minutes after their end, except the quality of service
    description = subprocess.run(("scontrol", "show", "job"), capture_output=True, text=True, check=True).stdout
    jobs = [job for job in description.split("\n\n") if "Account=physics" in job]
    assert len(jobs) == len(MODELS)
    assert [word for job in jobs for word in JOB_FIELDS if word not in job] == []
    times = [dict(word.partition("=")[::2] for word in job.split() if "Time=" in word) for job in jobs]
    first, second = sorted(times, key=lambda job: job["StartTime"])
    assert second["StartTime"] >= first["EndTime"], "the second job starts after the first"
    shutil.rmtree(root / "out/experiments")  # so that nothing is reused
    assert tables(root) == measured
    assert measured[0] != measured[1]
