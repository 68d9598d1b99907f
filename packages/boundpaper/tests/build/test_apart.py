"""Steps in worker processes have the same guarantees as in the main process, which reports their errors."""

import os
from multiprocessing import active_children
from pathlib import Path

import pytest

from boundpaper.build.engine import POOL_STEPS
from engine_apart import build


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(POOL_STEPS + 4):
        (tmp_path / f"s{number:02}.txt").write_text("plain")
    return tmp_path


def test_many_steps_run_in_worker_processes_and_few_in_this_one(root: Path) -> None:
    outcome, _, processes = build(root)
    assert len(outcome.built) == POOL_STEPS + 4
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes
    assert not active_children()
    (root / "s03.txt").write_text("changed")
    outcome, _, processes = build(root)
    assert outcome.built == ["numbered:s03"]
    assert os.getpid() in processes


def test_one_job_runs_in_this_process(root: Path) -> None:
    assert build(root, jobs=1)[2] == {os.getpid()}


def test_error_in_a_worker_process_is_reported_as_in_this_one(root: Path) -> None:
    for name, text in (("s00", "raise"), ("s05", "refuse"), ("s09", "note"), ("s11", "edit")):
        (root / f"{name}.txt").write_text(text)
    outcome, notes, _ = build(root)
    (root / "s11.txt").write_text("edit")
    outcome_here, notes_here, _ = build(root, jobs=1)
    messages = {key: str(error) for key, error in outcome.failed.items()}
    assert messages == {key: str(error) for key, error in outcome_here.failed.items()}
    assert messages["numbered:s00"] == "s00.txt:1: ValueError: no number"
    assert messages["numbered:s05"] == "s05.txt: the number is refused"
    assert "s11.txt changed while numbered:s11 was being built" in messages["numbered:s11"]
    assert "ValueError" in str(outcome.failed["numbered:s00"].__cause__), "the traceback is kept for --debug"
    assert notes == ["numbered:s09: seen"]
    assert notes_here == [], "built steps are up to date"
    assert len(outcome.built) == POOL_STEPS + 1


def test_killed_worker_fails_its_step_and_the_other_steps_go_on(root: Path) -> None:
    (root / "s02.txt").write_text("die")
    outcome, _, _ = build(root)
    assert "numbered:s02" in outcome.failed
    assert len(outcome.failed) <= 3, "only steps already sent to workers fail with it"
    assert all("was killed from outside" in str(error) for error in outcome.failed.values())
    assert len(outcome.built) + len(outcome.failed) == POOL_STEPS + 4
    (root / "s02.txt").write_text("plain")
    assert set(build(root)[0].built) == set(outcome.failed)
