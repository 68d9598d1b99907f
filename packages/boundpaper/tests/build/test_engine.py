"""Guarantees of the engine: what is rebuilt, what is kept, and the state after a failure or a kill."""

import dataclasses
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from boundpaper.build import facts
from boundpaper.build.engine import Engine
from boundpaper.build.facts import FactReader
from boundpaper.build.graph import Graph, Step
from boundpaper.build.kinds import Kind
from boundpaper.errors import DataError, ThesisError
from boundpaper.store.cached_files import pack_value
from boundpaper.store.files import digest, write
from engine_made import Project


@pytest.fixture
def project(tmp_path, monkeypatch):
    return Project(tmp_path, monkeypatch)


def test_second_build_without_changes_builds_nothing(project):
    assert project.build().built == ["upper:a", "upper:b", "join:all"]
    assert (project.root / "out/all").read_text() == "A B"
    outcome = project.build()
    assert project.calls == []
    assert len(outcome.fresh) == 3


def test_touching_is_no_change_but_editing_is(project):
    project.build()
    (project.root / "a.txt").touch()
    project.build()
    assert project.calls == []
    (project.root / "a.txt").write_text("c")
    project.build()
    assert project.calls == ["upper:a", "join:all"]
    assert (project.root / "out/all").read_text() == "C B"


def test_unchanged_output_stops_the_rebuild_of_dependents(project):
    project.build()
    (project.root / "a.txt").write_text("a ")
    before = (project.root / "out/a.up").stat().st_mtime_ns
    project.build()
    assert project.calls == ["upper:a"]
    assert (project.root / "out/a.up").stat().st_mtime_ns == before


@pytest.mark.parametrize("action", ["edit", "remove"])
def test_edited_or_deleted_output_is_built_again_and_reported(project, action):
    project.build()
    target = project.root / "out/a.up"
    target.write_text("mine") if action == "edit" else target.unlink()
    project.build()
    assert project.calls == ["upper:a"]
    assert target.read_text() == "A"
    assert project.notes == (["rewritten out/a.up"] if action == "edit" else [])


def test_output_restored_by_git_is_built_again_without_a_message(project):
    project.build()
    (project.root / "a.txt").write_text("c")
    project.build()
    (project.root / "a.txt").write_text("a")
    (project.root / "out/a.up").write_text("A")
    project.build()
    assert project.calls == ["upper:a", "join:all"]
    assert project.notes == []


def test_output_of_a_failed_builder_is_not_reported_as_an_edit(project):
    project.build()

    def fail(job):
        if job.name == "a":
            (job.root / "out/a.up").write_text("half")
            raise DataError("no")

    (project.root / "a.txt").write_text("c")
    project.during = fail
    assert set(project.build().failed) == {"upper:a"}
    project.during = lambda job: None
    (project.root / "a.txt").write_text("a")
    project.build()
    assert (project.root / "out/a.up").read_text() == "A"
    assert project.notes == []


def test_an_input_that_changes_while_its_step_runs_fails_the_step(project):
    project.during = lambda job: (job.root / "a.txt").write_text("later") if job.name == "a" else None
    outcome = project.build()
    assert "a.txt changed while upper:a was being built" in str(outcome.failed["upper:a"])
    assert not (project.root / "out/a.up").exists()
    project.during = lambda job: None
    assert project.build().failed == {}
    assert (project.root / "out/all").read_text() == "LATER B"


def test_independent_steps_go_on_after_a_failure(project):
    def fail(job):
        if job.name == "a":
            raise DataError("a is bad")

    project.during = fail
    outcome = project.build()
    assert str(outcome.failed["upper:a"]) == "a.txt: a is bad"
    assert outcome.built == ["upper:b"]
    assert outcome.left_out == {"join:all": "upper:a"}


def test_an_exception_in_a_step_names_its_place(project):
    project.during = lambda job: 1 / 0
    outcome = project.build("upper:a")
    assert "a.txt:1: ZeroDivisionError: division by zero" in str(outcome.failed["upper:a"])


def test_a_faulty_step_fails_and_its_builder_does_not_run(project):
    outcome = project.build(fault="a.txt:1: reads 'x', but no artifact has this name")
    assert "no artifact" in str(outcome.failed["upper:a"])
    assert project.calls == ["upper:b"]


OTHER_VERSION = pack_value({"format": 99, "steps": {}}).decode()


@pytest.mark.parametrize("content", ["", "{", '{"format": 1, "steps": {}}', "[]", OTHER_VERSION])
def test_an_unreadable_state_means_build_all(project, content):
    project.build()
    (project.root / "out/state/state.json").write_text(content)
    project.build()
    assert len(project.calls) == 3


def test_interrupted_build_keeps_the_steps_that_ended(project):
    def kill(job):
        if job.name == "b":
            raise KeyboardInterrupt

    project.during = kill
    with pytest.raises(KeyboardInterrupt):
        project.build()
    project.during = lambda job: None
    project.build()
    assert project.calls == ["upper:b", "join:all"]
    assert not list(project.root.rglob("*.part"))


def test_outputs_of_vanished_steps_are_removed_unless_a_file_is_unreadable(project):
    project.build()
    project.faults = ("b.txt: line 1: invalid syntax",)
    project.build(names=("a",))
    assert (project.root / "out/b.up").exists()
    project.faults = ()
    project.build(names=("a",))
    assert not (project.root / "out/b.up").exists()
    assert (project.root / "out/all").read_text() == "A"


def test_builder_that_writes_outside_its_outputs_fails(project):
    project.upper = None
    sys.modules["engine_builders"].__dict__["upper"] = lambda job: {"tables/x.py": "", f"out/{job.name}.up": ""}
    assert "tables/x.py" in str(project.build("upper:a").failed["upper:a"])
    assert not (project.root / "tables").exists()


def test_file_hashes_are_computed_by_the_main_thread_only(project, monkeypatch):
    """Parallel steps must not hash inputs, since a step that ends drops the hashes of inputs that other steps share."""
    threads, digests = set(), FactReader.digests

    def recorded(reader, paths):
        threads.add(threading.current_thread())
        return digests(reader, paths)

    monkeypatch.setattr(FactReader, "digests", recorded)
    assert project.build(parallel=True).failed == {}
    assert threads == {threading.main_thread()}


@pytest.mark.parametrize("settled", [True, False])
def test_changed_file_is_hashed_again_despite_its_old_time(project, monkeypatch, settled):
    """The file is read again because its status changed or, with an equal status, because the file is recent."""
    path = project.root / "a.txt"
    monkeypatch.setattr(facts, "SETTLED", -1 if settled else 10**20)
    if not settled:
        monkeypatch.setattr(facts, "status_stamp", lambda place: (1, 1, 1, 1))
    os.utime(path, (1, 1))
    reader = FactReader(project.root)
    first = reader.digest("a.txt")
    time.sleep(0.02)  # more than the resolution of times of change
    path.write_text("z")
    os.utime(path, (1, 1))
    reader.forget("a.txt")
    assert reader.digest("a.txt") == digest(path) != first


def test_forgotten_file_is_read_again_only_if_it_was_touched(project, monkeypatch):
    monkeypatch.setattr(facts, "SETTLED", -1)
    read_paths = []
    monkeypatch.setattr(facts, "digest", lambda path: read_paths.append(path) or digest(path))
    reader = FactReader(project.root)
    for _ in range(3):
        reader.digest("a.txt")
        reader.forget("a.txt")
    assert len(read_paths) == 1


def test_preparation_runs_once_before_a_first_build_and_leaves_its_error_to_the_step(project, monkeypatch):
    prepared = []

    def prepare(root):
        prepared.append(root)
        raise ThesisError("no preamble")

    sys.modules["engine_builders"].__dict__["prepare"] = prepare
    graph = project.graph()
    prepared_kind = dataclasses.replace(graph.steps["upper:a"].kind, prepare="engine_builders:prepare")
    for key in ("upper:a", "upper:b"):
        graph.steps[key] = dataclasses.replace(graph.steps[key], kind=prepared_kind)
    for _ in range(2):
        outcome = Engine(project.root, graph, FactReader(project.root), lambda *words: None, 2).build(["join:all"])
        assert outcome.failed == {}
    assert prepared == [project.root]


@pytest.mark.parametrize(("reserved", "first"), [(0, "table:long"), (1, "figure:short")])
def test_steps_before_an_outside_program_come_first_if_a_job_is_reserved(project, reserved, first):
    table, picture = (Kind(name, builder="", targets=(), in_thread=name == "picture") for name in ("table", "picture"))
    steps = {key: Step(key=key, kind=table, name=key, file="") for key in ("table:long", "figure:short", "figure:long")}
    for name in ("short", "long"):
        key = f"picture:{name}"
        steps[key] = Step(key=key, kind=picture, name=name, file="", needs=(f"figure:{name}",))
    engine = Engine(project.root, Graph(steps, {}, ()), FactReader(project.root), lambda *words: None, 2, reserved)
    engine.state.steps |= {"table:long": {"seconds": 9.0}, "figure:long": {"seconds": 2.0}}
    seconds = engine._longest_chains(list(steps))
    assert max(("table:long", "figure:short", "figure:long"), key=seconds.__getitem__) == first


def test_error_that_names_a_result_also_names_its_sources(project):
    result, table = (Kind(name=name, builder="engine_builders:join", targets=()) for name in ("result", "table"))
    steps = {
        "result:heights": Step(key="result:heights", kind=result, name="heights", file="", artifacts={"lamps": ""}),
        "table:t": Step(key="table:t", kind=table, name="t", file="", artifacts={"heights": "", "lamps": ""}),
    }
    graph = Graph(steps=steps, artifacts={}, faults=())
    engine = Engine(project.root, graph, FactReader(project.root), lambda *words: None)
    assert engine._origins(steps["table:t"], "0 rows of heights") == "; heights is computed from lamps"
    assert engine._origins(steps["table:t"], "0 rows of lamps") == ""


def test_parallel_steps_run_side_by_side_and_report_failures(project):
    barrier = threading.Barrier(2, timeout=10)
    project.during = lambda job: barrier.wait()
    assert project.build(parallel=True).failed == {}
    (project.root / "a.txt").write_text("q")
    project.during = lambda job: (_ for _ in ()).throw(ThesisError("no"))
    outcome = project.build(parallel=True)
    assert list(outcome.failed) == ["upper:a"]


def test_build_state_holds_no_file_times(project):
    project.build()
    entry = json.loads((project.root / "out/state/state.json").read_text())["value"]["steps"]["upper:a"]
    assert set(entry) == {"inputs", "outputs", "seconds"}


def test_a_device_is_never_replaced():
    with pytest.raises(ThesisError, match="not a file"):
        write(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()
