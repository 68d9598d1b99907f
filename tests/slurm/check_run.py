"""The command that runs experiments on several models, a job for each, on a real one-node Slurm: `make test-slurm`."""

import os
import shutil
import subprocess
from pathlib import Path

from boundpaper.store.table_file import table_text
from conftest import copy_project, run

MODELS = ("tiny-rope", "tiny-drope")
ASKED = f"run attention_patterns --items 0 --documents 1 --tokens 32 --again --model {MODELS[0]} --against {MODELS[1]}"
ON_SLURM = "--executor slurm --partition main --account physics --qos normal --constraint lab --cpus 1 --minutes 11"
FURTHER = ("--memory", "0.9", "--at-once", "1", "--setup", GREETING := "export LAB_GREETING='hello there'")
WRITTEN = ("account=physics", "qos=normal", "constraint=lab", "partition=main", "cpus-per-task=1", "time=11")
HELD = ("Features=lab", "Partition=main", "TimeLimit=00:11:00", "CPUs/Task=1")
SECONDS = 600.0  # that the command may take


def tables(root: Path, *more: str) -> list[str]:
    """The tables of the two models after the command; nothing but itself tells a job where the project lies."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    result = run(root, *ASKED.split(), "--replace", *more, env=environment, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    assert [name for name in MODELS if f"{name}: finished" in result.stderr] == list(MODELS if more else ())
    folder = root / "artifacts/measurements/attention_patterns"
    return [table_text(next(folder.glob(f"{name}.[cp]*"))) for name in MODELS]


def test_two_models_are_a_job_each_with_all_options_and_equal_a_local_run(tmp_path: Path) -> None:
    root = copy_project(tmp_path / "project")
    measured = tables(root, *ON_SLURM.split(), *FURTHER)
    (script,) = (root / "out/experiments/jobs/slurm").glob("*_submission.sh")
    lines = script.read_text().splitlines()
    assert {*(f"#SBATCH --{word}" for word in WRITTEN), "#SBATCH --array=0-1%1", GREETING} <= set(lines)
    # what Slurm itself holds of the jobs, for minutes after their end; not the service, which only accounting knows
    shown = subprocess.run(("scontrol", "show", "job"), capture_output=True, text=True, check=True).stdout
    jobs = [each for each in shown.split("\n\n") if "Account=physics" in each]
    assert len(jobs) == len(MODELS)
    assert [word for job in jobs for word in HELD if word not in job] == []
    times = [dict(word.partition("=")[::2] for word in job.split() if "Time=" in word) for job in jobs]
    first, second = sorted(times, key=lambda each: each["StartTime"])
    assert second["StartTime"] >= first["EndTime"], "one at a time"
    shutil.rmtree(root / "out/experiments")  # so that nothing is reused
    assert tables(root) == measured
    assert measured[0] != measured[1]
