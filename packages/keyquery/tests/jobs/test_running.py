"""Running jobs: cached results, resuming after failures and kills, logs, progress, and errors that list failures."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jobs_work
from boundpaper.errors import DataError, SpecError
from keyquery.jobs import JobFolder, JobProgress, JobsFailed, run_jobs, seal
from keyquery.jobs.content import key
from keyquery.jobs.local import LocalExecutor
from waiting import until


def run(function: Any, arguments: list[dict[str, Any]], folder: Path, workers: int = 2, **options: Any) -> list[Any]:
    with LocalExecutor(workers) as executor:
        return run_jobs(function, arguments, executor, folder, **options)


def run_counts(tally: Path) -> Counter[str]:
    return Counter(tally.read_text().split()) if tally.exists() else Counter()


def test_results_come_in_order_and_equal_jobs_run_once(tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    arguments = [{"tally": tally, "name": name} for name in "abca"]
    assert run(jobs_work.counted, arguments, tmp_path / "jobs") == ["a", "b", "c", "a"]
    assert run_counts(tally) == Counter("abc")


def test_a_finished_job_is_not_run_again(tmp_path: Path) -> None:
    tally, folder, states = tmp_path / "tally", tmp_path / "jobs", list[JobProgress]()
    arguments = [{"tally": tally, "name": name} for name in "ab"]
    run(jobs_work.counted, arguments, folder)
    three_jobs = [*arguments, {"tally": tally, "name": "c"}]
    assert run(jobs_work.counted, three_jobs, folder, progress=states.append) == ["a", "b", "c"]
    assert run_counts(tally) == Counter("abc")
    assert states[0].event == "3 jobs, 2 of them finished earlier"
    assert (states[-1].kept, states[-1].done, states[-1].failed) == (2, 1, 0)
    run(jobs_work.counted, arguments, folder, version="other weights")
    assert run_counts(tally) == Counter("aabbc")


def test_job_runs_again_when_a_file_of_its_result_is_missing(tmp_path: Path) -> None:
    tally, states = tmp_path / "tally", list[JobProgress]()
    for _ in range(2):
        run(jobs_work.counted, [{"tally": tally, "name": "a"}], tmp_path, valid=lambda name: False, names=["x"],
            progress=states.append)  # fmt: skip
    assert run_counts(tally) == Counter("aa")
    assert "x: files of its earlier result are missing; running it again" in [state.event for state in states]


@pytest.mark.parametrize(
    "content", [b"", b"torn", seal.seal_content(pickle.dumps(jobs_work.Shard(1, 2)).replace(b"Shard", b"Shred"))]
)
def test_job_runs_again_when_its_result_is_unreadable(tmp_path: Path, content: bytes) -> None:
    states = list[JobProgress]()
    job_folder = JobFolder(tmp_path / key(jobs_work.square, {"number": 3}))
    run(jobs_work.square, [{"number": 3}], tmp_path)
    job_folder.result.write_bytes(content)
    with pytest.raises(DataError, match=r"result.pkl: cannot be read"):
        job_folder.load()
    assert run(jobs_work.square, [{"number": 3}], tmp_path, progress=states.append) == [9]
    assert states[0].event == "number=3: its earlier result cannot be read; running it again"


@pytest.mark.parametrize("seal_kind", ["unsealed", "another's"])
def test_result_with_a_foreign_seal_is_not_unpickled(
    tmp_path: Path, seal_kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_folder, marker = JobFolder(tmp_path / key(jobs_work.square, {"number": 3})), tmp_path / "marker"
    run(jobs_work.square, [{"number": 3}], tmp_path)
    content = pickle.dumps(jobs_work.Touch(marker))
    if seal_kind == "unsealed":
        job_folder.result.write_bytes(content)
    else:
        with monkeypatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
            job_folder.result.write_bytes(seal.seal_content(content))
    assert run(jobs_work.square, [{"number": 3}], tmp_path) == [9]
    assert not marker.exists()
    job_folder.result.write_bytes(seal.seal_content(content))
    job_folder.load()
    assert marker.exists()  # unpickling this content creates the file
    assert seal.key_path().stat().st_mode & 0o777 == 0o600


def test_failure_is_reported_with_its_log_and_traceback(tmp_path: Path) -> None:
    with pytest.raises(JobsFailed) as error:
        run(jobs_work.fail, [{"number": 1}], tmp_path, names=["shard 1 of 1"])
    job_folder = JobFolder(tmp_path / key(jobs_work.fail, {"number": 1}))
    message = str(error.value)
    beginning = "1 of 1 job failed:\n  shard 1 of 1: ZeroDivisionError: integer division or modulo by zero\n"
    assert message.startswith(beginning)
    assert f"log: {job_folder.log}\n" in message
    assert "| about to divide 1 by zero\n" in message
    assert "return number // 0" in message
    assert message.endswith("Finished jobs are kept: repeat the command to run only the missing ones.")
    assert str(pickle.loads(pickle.dumps(error.value))) == message


def test_project_error_is_shown_without_traceback(tmp_path: Path) -> None:
    with pytest.raises(JobsFailed) as error:
        run(jobs_work.refuse, [{"model": "m"}], tmp_path)
    (failure,) = error.value.failures
    assert (failure.reason, failure.tail) == ("m: has no tokenizer; give another", "")
    assert "ModelError" in failure.log.read_text()


def test_dead_job_processes_are_failures_with_their_last_output(tmp_path: Path) -> None:
    states = list[JobProgress]()
    with pytest.raises(JobsFailed) as error:
        run(jobs_work.die, [{"how": "kill"}, {"how": "crash"}], tmp_path, progress=states.append)
    killed, crashed = error.value.failures
    assert killed.reason == "its process was ended by SIGKILL (out of memory? see `dmesg`)"
    assert killed.tail.endswith("last words")
    assert "Segmentation fault" in crashed.tail
    assert "jobs_work.py" in crashed.tail
    assert states[-1].failed == 2


def test_result_that_cannot_be_pickled_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(JobsFailed, match="the job returned a function that cannot be pickled"):
        run(jobs_work.returns_function, [{}], tmp_path)


def test_job_folder_holds_the_full_log_and_the_request(tmp_path: Path) -> None:
    run(jobs_work.loud, [{"text": "words"}], tmp_path, names=["noise"], version="v")
    job_folder = JobFolder(tmp_path / key(jobs_work.loud, {"text": "words"}, "v"))
    log = job_folder.log.read_text()
    for line in ("words from print", "words from a library", "words from a program", "words to stderr"):
        assert f"\n{line}\n" in log
    request = json.loads((job_folder.path / "job.json").read_text())
    assert request == {
        "name": "noise", "function": "jobs_work.loud", "arguments": {"text": "'words'"}, "version": "v",
    }  # fmt: skip


def test_running_jobs_report_progress(tmp_path: Path) -> None:
    stop, states = tmp_path / "stop", list[JobProgress]()

    def watch(state: JobProgress) -> None:
        states.append(state)
        if state.reports:
            stop.touch()

    assert run(jobs_work.reporting, [{"stop": stop}], tmp_path / "jobs", names=["a"], progress=watch) == ["reported"]
    assert {"a": "3 of 5 documents"} in [dict(state.reports) for state in states]
    assert [state.event for state in states if state.event] == ["1 job", "a: finished"]
    assert (states[-1].running, states[-1].seconds_left) == (0, 0.0)


def test_run_resumes_after_a_kill(tmp_path: Path) -> None:
    tally, folder, gate = tmp_path / "tally", tmp_path / "jobs", tmp_path / "gate"
    first = {"tally": tally, "name": "first"}
    second = {"tally": tally, "name": "second", "wait_for": gate}
    program = (
        "import jobs_work; from pathlib import Path, PosixPath; from keyquery.jobs import run_jobs, "
        f"open_executor\nfolder = Path({str(folder)!r})\nwith open_executor('local', folder) as executor:\n    "
        f"run_jobs(jobs_work.counted, [{first!r}, {second!r}], executor, folder)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = subprocess.Popen([sys.executable, "-c", program], env=environment)
    until(lambda: run_counts(tally) == Counter(["first", "second"]))
    os.kill(command.pid, signal.SIGKILL)
    command.wait()
    gate.touch()
    assert run(jobs_work.counted, [first, second], folder) == ["first", "second"]
    assert run_counts(tally) == Counter(["first", "second", "second"])


def test_ctrl_c_ends_running_jobs_and_keeps_finished_ones(tmp_path: Path) -> None:
    tally, folder, gate = tmp_path / "tally", tmp_path / "jobs", tmp_path / "never"
    arguments = [{"tally": tally, "name": "first"}, {"tally": tally, "name": "second", "wait_for": gate}]

    def interrupt() -> None:
        until(lambda: run_counts(tally) == Counter(["first", "second"]))
        # sent to the waiting thread: a signal handled by another thread does not end a wait
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run(jobs_work.counted, arguments, folder, workers=1)
    gate.touch()
    assert run(jobs_work.counted, arguments, folder) == ["first", "second"]
    assert run_counts(tally) == Counter(["first", "second", "second"])


def test_two_commands_run_a_shared_job_once(tmp_path: Path) -> None:
    tally, gate, results = tmp_path / "tally", tmp_path / "gate", list[list[str]]()
    arguments = [{"tally": tally, "name": "a", "wait_for": gate}]
    job_folder = JobFolder(tmp_path / "jobs" / key(jobs_work.counted, arguments[0]))

    def command() -> None:
        results.append(run(jobs_work.counted, arguments, tmp_path / "jobs"))

    threads = [threading.Thread(target=command) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: job_folder.log.exists() and "is running the same job" in job_folder.tail())
    gate.touch()
    for thread in threads:
        thread.join()
    assert results == [["a"], ["a"]]
    assert run_counts(tally) == Counter("a")


def test_number_of_names_must_equal_the_number_of_jobs(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="1 names for 2 jobs"):
        run(jobs_work.square, [{"number": 1}, {"number": 2}], tmp_path, names=["a"])


def test_empty_list_of_jobs_creates_no_folder(tmp_path: Path) -> None:
    assert run(jobs_work.square, [], tmp_path / "jobs") == []
    assert not (tmp_path / "jobs").exists()


def test_log_tail_shows_the_final_state_of_progress_lines(tmp_path: Path) -> None:
    job_folder = JobFolder(tmp_path)
    job_folder.log.write_text("begin\r\n\n 10 %\r 50 %\r100 %\nend\n")
    assert job_folder.tail() == "begin\n100 %\nend"
    assert job_folder.tail(1) == "end"
    assert JobFolder(tmp_path / "none").tail() == ""
