"""The command that runs experiments on several models, a job a model on a real Slurm of one node: `make test-slurm`."""

import os
import subprocess
from pathlib import Path

import pytest

from boundpaper.store.table_file import table_text
from conftest import copy_project, run

MODELS = ("tiny-rope", "tiny-drope")
ASKED = ("run", "attention_patterns", "--items", "0", "--documents", "1", "--tokens", "32")
SECONDS = 200.0  # that the command may take
GREETING = "export LAB_GREETING='hello there'"
OPTIONS = {
    "--partition": "main",
    "--account": "physics",
    "--qos": "normal",
    "--constraint": "lab",
    "--cpus": "1",
    "--minutes": "11",
    "--memory": "0.9",
    "--setup": GREETING,
    "--at-once": "1",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_project(tmp_path_factory.mktemp("run") / "project")


def measured(lab: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The command; nothing but itself tells a job where the project lies."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    models = ("--model", MODELS[0], "--against", MODELS[1], "--replace", "--again")
    return run(lab, *ASKED, *models, *more, env=environment, timeout=SECONDS)


def tables(lab: Path) -> dict[str, str]:
    return {
        name: table_text(next((lab / "artifacts/measurements/attention_patterns").glob(f"{name}.[cp]*")))
        for name in MODELS
    }


def test_two_models_are_a_job_each_with_all_options_and_equal_a_local_run(lab: Path) -> None:
    done = measured(lab, "--executor", "slurm", *(word for pair in OPTIONS.items() for word in pair))
    assert done.returncode == 0, done.stderr
    for name in MODELS:
        assert f"{name}: finished" in done.stderr
    there = tables(lab)
    folder = lab / "out/experiments/jobs"
    (script,) = (folder / "slurm").glob("*_submission.sh")
    lines = script.read_text().splitlines()
    for word in ("account=physics", "qos=normal", "constraint=lab", "partition=main", "cpus-per-task=1", "time=11"):
        assert f"#SBATCH --{word}" in lines
    assert "#SBATCH --array=0-1%1" in lines
    assert GREETING in lines
    # what Slurm itself holds of the jobs, for minutes after their end; not the service, which only accounting knows
    shown = subprocess.run(("scontrol", "show", "job"), capture_output=True, text=True, check=True).stdout
    jobs = [each for each in shown.split("\n\n") if "Account=physics" in each]
    assert len(jobs) == len(MODELS)
    for job in jobs:
        for word in (
            "JobState=COMPLET",
            "Features=lab",
            "Partition=main",
            "TimeLimit=00:11:00",
            "CPUs/Task=1",
        ):
            assert word in job
    starts = sorted(
        line.partition("=")[2].split()[0] for job in jobs for line in job.split() if line.startswith("StartTime=")
    )
    ends = sorted(line.partition("=")[2] for job in jobs for line in job.split() if line.startswith("EndTime="))
    assert starts[1] >= ends[0], "one at a time"

    here = measured(lab)
    assert here.returncode == 0, here.stderr
    assert tables(lab) == there
    assert there[MODELS[0]] != there[MODELS[1]]
