"""Executors by name, resource requests of jobs, and the parts of the Slurm executor that work without Slurm."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boundpaper.errors import MissingDependency, ThesisError
from keyquery.jobs import Resources, open_executor, squeue
from keyquery.jobs.local import LocalExecutor
from keyquery.jobs.slurm import submitit_parameters


def test_local_executor_is_opened_by_name(tmp_path: Path) -> None:
    with open_executor("local", tmp_path) as executor:
        assert isinstance(executor, LocalExecutor)
        assert executor.workers == 1
    with open_executor("local", tmp_path, workers=3) as executor:
        assert isinstance(executor, LocalExecutor)
        assert executor.workers == 3


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("slrum", {}, r"unknown executor 'slrum': give local or slurm; did you mean slurm\?"),
        ("k8s", {}, "unknown executor 'k8s': give local or slurm$"),
        ("local", {"workers": 0}, "0 jobs at a time: give 1 or more"),
        ("local", {"resources": Resources(partition="p", minutes=20)}, "only slurm can set partition or minutes"),
        ("local", {"resources": Resources(setup=("true",), qos="q")}, "only slurm can set qos or setup"),
        ("slurm", {"workers": "gpu"}, "for slurm give the GPUs per job"),
    ],
)
def test_unknown_executors_and_options_are_refused(
    tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ThesisError, match=message):
        open_executor(name, tmp_path, **options)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"minutes": 9}, "time limit of 9 min is too short .* give 10 min or more"), ({"gpus": -1}, "-1 GPUs"),
        ({"cpus": 0}, "0 CPU cores"), ({"memory": 0.0}, "0 GiB of memory"),
        ({"memory": float("nan")}, "nan GiB of memory"), ({"memory": float("inf")}, "inf GiB of memory"),
        ({"partition": "a b"}, "the partition 'a b' is not one word; `sinfo` lists"),
        ({"account": ""}, "the account '' is not one word; `sacctmgr"),
        ({"setup": ("a\nb",)}, r"'a\\nb' is empty or more than one line"), ({"at_once": 0}, "0 jobs at once"),
    ],
)  # fmt: skip
def test_resources_out_of_range_are_refused(resources: dict[str, Any], message: str) -> None:
    with pytest.raises(ThesisError, match=message):
        Resources(**resources)


def put_programs(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_missing_slurm_error_gives_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_programs(tmp_path, monkeypatch, "squeue")
    with pytest.raises(MissingDependency, match=r"^sbatch, srun, scancel: not found") as error:
        open_executor("slurm", tmp_path)
    assert str(error.value).endswith("apt-get install -y --no-install-recommends slurm-wlm munge")


def test_missing_submitit_error_gives_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_programs(tmp_path, monkeypatch, *squeue.PROGRAMS)
    monkeypatch.setitem(sys.modules, "submitit", None)
    message = r"submitit is not installed.*pip install -c constraints\.txt '\.\[cluster\]'$"
    with pytest.raises(MissingDependency, match=message):
        open_executor("slurm", tmp_path)


def test_slurm_parameters_follow_from_the_resources() -> None:
    parameters = submitit_parameters(Resources(partition="gpu", gpus=4, cpus=4, memory=24.0, minutes=90), 8)
    assert parameters == {
        "name": "jobs", "timeout_min": 90, "mem_gb": 24.0, "cpus_per_task": 4, "gpus_per_node": 4,
        "slurm_partition": "gpu", "slurm_array_parallelism": 8,
        "slurm_account": None, "slurm_qos": None, "slurm_constraint": None,
    }  # fmt: skip
    by_account = submitit_parameters(Resources(account="lab", qos="long", constraint="a100|h100", at_once=2), 8)
    assert {name: by_account[name] for name in by_account if name.startswith("slurm") and by_account[name]} == {
        "slurm_account": "lab", "slurm_qos": "long", "slurm_constraint": "a100|h100", "slurm_array_parallelism": 2,
    }  # fmt: skip
    assert {name: value for name, value in submitit_parameters(Resources(gpus=0)).items() if value is not None} == {
        "name": "jobs", "timeout_min": 60,
    }  # fmt: skip


def test_squeue_output_is_parsed() -> None:
    squeue_text = "7 2 7 PENDING\n7 0 8 RUNNING\n9 N/A 9 COMPLETED\n\n"
    assert squeue.parse_queue(squeue_text) == {"7_2": "PENDING", "7_0": "RUNNING", "9": "COMPLETED"}
    assert squeue.may_run("PENDING")
    assert squeue.may_run("COMPLETING")
    assert not squeue.may_run("TIMEOUT")
    assert not squeue.may_run(None)


def test_failed_squeue_is_not_taken_as_an_empty_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "squeue").write_text("#!/bin/sh\necho cannot contact the controller >&2; exit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    assert squeue.job_states("me") is None
    (tmp_path / "squeue").write_text("#!/bin/sh\nexit 0\n")
    assert squeue.job_states("me") == {}


def test_largest_array_is_read_from_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for program, largest in (("echo 'MaxArraySize            = 301'", 300), ("exit 1", 1000)):
        (tmp_path / "scontrol").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "scontrol").chmod(0o755)
        assert squeue.largest_array() == largest


def test_slurm_failure_reasons_say_what_to_change() -> None:
    assert "time limit of 90 min" in squeue.reason_of_end("TIMEOUT", 90)
    assert "more memory" in squeue.reason_of_end("OUT_OF_MEMORY", 60)
    assert "no longer in Slurm's queue" in squeue.reason_of_end(None, 60)
    assert "state FAILED" in squeue.reason_of_end("FAILED", 60)


def test_importing_jobs_loads_no_heavy_package() -> None:
    program = (
        "import sys, keyquery.jobs; print([m for m in ('torch', 'numpy', 'pandas', 'submitit') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert result.stdout.strip() == "[]"
