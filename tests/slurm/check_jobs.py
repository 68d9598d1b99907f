"""Run jobs on a real one-node Slurm: `make test-slurm`, not part of `make test`."""

import getpass
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jobs_work
from boundpaper.errors import ThesisError
from keyquery.jobs import JobProgress, JobsFailed, Resources, open_executor, run_jobs, squeue
from keyquery.jobs.slurm import SlurmExecutor

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 40.0  # time limit of every call, in seconds

DRIVER = """
import sys
from pathlib import Path, PosixPath
import jobs_work
from keyquery.jobs import Resources, run_jobs
from keyquery.jobs.slurm import SlurmExecutor
folder = Path(sys.argv[1])
with SlurmExecutor(folder / "slurm", Resources(), look=1) as executor:
    run_jobs(jobs_work.counted, {arguments!r}, executor, folder)
"""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs import the functions of `jobs_work`."""
    folders = (ROOT, *(ROOT / f"packages/{package}/tests/support" for package in ("keyquery", "boundpaper")))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))


def run(function: Any, arguments: list[dict[str, Any]], folder: Path, **options: Any) -> list[Any]:
    with SlurmExecutor(folder / "slurm", Resources(), look=1) as executor:
        return run_jobs(function, arguments, executor, folder, **options)


def runs(tally: Path) -> Counter[str]:
    return Counter(tally.read_text().split()) if tally.exists() else Counter()


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"the condition is still false after {SECONDS} s"
        time.sleep(0.1)


def queued() -> list[str]:
    """Return the names of this user's jobs that wait or run."""
    states = squeue.job_states(getpass.getuser())
    assert states is not None
    return [name for name, state in states.items() if squeue.may_run(state)]


def test_three_jobs_form_one_array_and_finished_ones_are_kept(tmp_path: Path) -> None:
    names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_COUNT")
    arguments = [{"name": name} for name in names]
    states = list[JobProgress]()
    index, array, count = run(jobs_work.environment, arguments, tmp_path, progress=states.append)
    assert (index, count) == ("0", "3")
    assert array.isdigit()
    assert [state.event for state in states if "finished" in state.event][-1].endswith(": finished")
    scripts = list((tmp_path / "slurm").glob("*_submission.sh"))
    assert len(scripts) == 1
    assert "#SBATCH --time=60" in scripts[0].read_text()
    assert run(jobs_work.environment, arguments, tmp_path) == [index, array, count]
    assert list((tmp_path / "slurm").glob("*_submission.sh")) == scripts


def test_resources_reach_the_job(tmp_path: Path) -> None:
    setup = ("export LAB_GREETING=hello",)
    asked = Resources(partition="main", minutes=30, cpus=2, memory=0.5, constraint="lab", setup=setup, at_once=1)
    with open_executor("slurm", tmp_path, resources=asked) as executor:
        names = ("SLURM_CPUS_PER_TASK", "SLURM_JOB_PARTITION", "LAB_GREETING")
        arguments = [{"name": name} for name in names]
        assert run_jobs(jobs_work.environment, arguments, executor, tmp_path) == ["2", "main", "hello"]
    (script,) = (tmp_path / "slurm").glob("*_submission.sh")
    for line in "--time=30 --mem=512MB --cpus-per-task=2 --partition=main --constraint=lab --array=0-2%1".split():
        assert f"#SBATCH {line}\n" in script.read_text()


def test_failures_show_their_logs_and_other_jobs_finish(tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    with pytest.raises(JobsFailed) as error:
        run(jobs_work.fail, [{"number": 1}], tmp_path)
    (failure,) = error.value.failures
    assert failure.reason == "ZeroDivisionError: integer division or modulo by zero"
    assert "about to divide 1 by zero" in failure.log.read_text()
    assert "about to divide 1 by zero" in str(error.value)
    with pytest.raises(JobsFailed) as error:
        run(jobs_work.die, [{"how": "kill"}], tmp_path)
    (failure,) = error.value.failures
    assert failure.reason.startswith("ended without an outcome (Slurm's state FAILED)")
    assert failure.tail.endswith("last words")
    assert run(jobs_work.counted, [{"tally": tally, "name": "a"}], tmp_path) == ["a"]


def test_a_job_that_is_cancelled_outside_is_a_failure(tmp_path: Path) -> None:
    tally, never = tmp_path / "tally", tmp_path / "never"

    def cancel() -> None:
        wait_until(lambda: runs(tally))
        squeue.cancel_jobs(queued())

    threading.Thread(target=cancel).start()
    with pytest.raises(JobsFailed, match=r"cancelled|state FAILED"):
        run(jobs_work.counted, [{"tally": tally, "name": "a", "wait_for": never}], tmp_path / "jobs")


def test_job_at_its_time_limit_is_reported_as_such(tmp_path: Path) -> None:
    tally, never = tmp_path / "tally", tmp_path / "never"

    def warn() -> None:  # the signal that Slurm sends 90 s before the time limit; here it need not arrive
        wait_until(lambda: runs(tally))
        subprocess.run(["scancel", "--signal=USR2", *queued()], check=True)

    threading.Thread(target=warn).start()
    arguments = [{"tally": tally, "name": "a", "wait_for": never}]
    with (
        SlurmExecutor(tmp_path / "slurm", Resources(minutes=10), look=1) as executor,
        pytest.raises(JobsFailed, match="exceeded the time limit of 10 min; raise the limit, or rerun the command"),
    ):
        run_jobs(jobs_work.counted, arguments, executor, tmp_path / "jobs")


def test_slurm_refusal_is_reported_with_its_message(tmp_path: Path) -> None:
    with (
        open_executor("slurm", tmp_path, resources=Resources(partition="nowhere")) as executor,
        pytest.raises(ThesisError, match=r"Slurm refused the jobs: (.|\n)*invalid partition specified: nowhere"),
    ):
        run_jobs(jobs_work.square, [{"number": 1}], executor, tmp_path)


def start_jobs(arguments: list[dict[str, Any]], folder: Path, tally: Path, names: set[str]) -> subprocess.Popen[bytes]:
    """Start a process that runs jobs; return it when the jobs in `names` have started."""
    command = subprocess.Popen([sys.executable, "-c", DRIVER.format(arguments=arguments), str(folder)], cwd=ROOT)
    wait_until(lambda: set(runs(tally)) >= names)
    return command


def test_killed_command_resumes_with_the_queued_jobs(tmp_path: Path) -> None:
    tally, gate, folder = tmp_path / "tally", tmp_path / "gate", tmp_path / "jobs"
    arguments: list[dict[str, Any]] = [
        {"tally": tally, "name": "first"},
        {"tally": tally, "name": "second", "wait_for": gate},
        {"tally": tally, "name": "third"},
    ]
    command = start_jobs(arguments, folder, tally, {"first", "second", "third"})
    wait_until(lambda: len(list(folder.glob("*/result.pkl"))) == 2)
    os.kill(command.pid, signal.SIGKILL)
    command.wait()
    assert queued()  # jobs outlive the command

    def look(state: JobProgress) -> None:
        if state.event:
            gate.touch()

    states = list[JobProgress]()
    assert run(jobs_work.counted, arguments, folder, progress=lambda state: (states.append(state), look(state)))
    assert runs(tally) == Counter(["first", "second", "third"])
    assert states[0].event == "3 jobs, 2 of them finished earlier"


def test_ctrl_c_empties_the_queue_and_keeps_finished_jobs(tmp_path: Path) -> None:
    tally, never, folder = tmp_path / "tally", tmp_path / "never", tmp_path / "jobs"
    arguments: list[dict[str, Any]] = [
        {"tally": tally, "name": "first"},
        {"tally": tally, "name": "second", "wait_for": never},
        {"tally": tally, "name": "third", "wait_for": never},
        {"tally": tally, "name": "fourth", "wait_for": never},
    ]
    command = start_jobs(arguments, folder, tally, {"first", "second", "third"})
    os.kill(command.pid, signal.SIGINT)
    command.wait(SECONDS)
    assert not queued()
    never.touch()
    assert run(jobs_work.counted, arguments, folder) == ["first", "second", "third", "fourth"]
    assert runs(tally)["first"] == 1
    assert runs(tally)["fourth"] == 1
