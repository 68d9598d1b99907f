"""A step is fresh, without hashing, if its files have unchanged time stamps; the files of other steps are hashed."""

import json
import os
import shutil
import time

import pytest

from boundpaper.build.unchanged import FILE, STATE, FileStamps, are_unchanged
from boundpaper.store import cached_files as store
from boundpaper.store.files import digest

SOURCE, OUTPUT = "artifacts/sources/a.csv", "out/tables/a.tex"


@pytest.fixture
def project(tmp_path):
    """Return a folder with a source and its output, both older than the changes that a test makes."""
    for path, text in ((SOURCE, "x\n1\n"), ("tables/a.py", "code\n"), (OUTPUT, "made\n"), (STATE, "{}")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    time.sleep(0.03)
    return tmp_path


def stamps_of(root):
    lock = root / "out/state/lock"
    lock.write_text("here\n")
    return FileStamps(root, lock)


def record(root, stamps, steps=("table:a", "source:a")):
    entry = {"inputs": {SOURCE: digest(root / SOURCE)}, "outputs": {OUTPUT: digest(root / OUTPUT)}}
    return stamps.keep(steps, [entry])


@pytest.fixture
def recorded(project):
    """Return the folder of `project`, recorded as up to date."""
    assert record(project, stamps_of(project))
    return project


def test_step_without_changes_is_fresh(recorded):
    assert are_unchanged(recorded, ["table:a"])
    assert are_unchanged(recorded, ["source:a", "table:a"])
    assert not are_unchanged(recorded, ["table:b"])


def change_text(path):
    path.write_text("y\n2\n")


def change_text_but_not_time(path):
    before = path.stat()
    path.write_text(path.read_text().upper().replace("1", "2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)


def add_file(path):
    (path.parent / "b.csv").write_text("x\n")


def replace(path):
    path.with_suffix(".new").write_bytes(path.read_bytes())
    os.utime(path.with_suffix(".new"), ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    path.with_suffix(".new").replace(path)


def remove(path):
    path.unlink()


@pytest.mark.parametrize("change", [change_text, change_text_but_not_time, add_file, replace, remove])
def test_touched_source_is_not_taken_as_unchanged(recorded, change):
    change(recorded / SOURCE)
    assert not are_unchanged(recorded, ["table:a"])


@pytest.mark.parametrize("path", [OUTPUT, STATE, FILE])
@pytest.mark.parametrize("change", [change_text, remove])
def test_changed_output_or_build_record_is_not_taken_as_unchanged(recorded, path, change):
    change(recorded / path)
    assert not are_unchanged(recorded, ["table:a"])


def test_copied_project_is_not_taken_as_unchanged(recorded, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(recorded, copy)  # copies keep their times
    assert not are_unchanged(copy, ["table:a"])


@pytest.mark.parametrize(
    "text", [*("", "[]", "{", '{"format": 0}', '{"format": 1, "steps": 3, "stamps": "", "paths": []}', "[" * 100_000)]
)
def test_damaged_record_is_ignored(recorded, text):
    (recorded / FILE).write_text(text)
    assert not are_unchanged(recorded, [])


@pytest.mark.parametrize("steps", [3, "table:a", [["table:a"]], ["table:a", {}]])
@pytest.mark.parametrize("paths", ["paper", [["paper"]], ["a\0b"], {"paper": 1}])
def test_record_of_an_unknown_format_is_ignored(recorded, steps, paths):
    for damage in ({"steps": steps, "paths": []}, {"steps": [], "paths": paths}):
        store.keep_value(recorded / FILE, {"format": 1, "stamps": "", **damage})
        assert not are_unchanged(recorded, [])


def test_a_source_that_changed_after_the_build_began_is_not_remembered(project):
    stamps = stamps_of(project)
    change_text(project / SOURCE)
    assert not record(project, stamps)
    assert not (project / FILE).exists()


def test_a_source_as_young_as_the_lock_is_not_remembered(project):
    (project / SOURCE).write_text("x\n1\n")
    lock = project / "out/state/lock"
    lock.write_text("here\n")
    moment = (project / SOURCE).stat().st_ctime_ns
    os.utime(lock, ns=(moment, moment))
    assert not record(project, FileStamps(project, lock))


def test_built_output_is_recorded_by_its_content(project):
    stamps = stamps_of(project)
    (project / OUTPUT).write_text("made anew\n")
    assert record(project, stamps)
    assert are_unchanged(project, ["table:a"])


def test_output_written_by_another_process_during_the_build_is_not_recorded(project):
    stamps = stamps_of(project)
    entry = {"inputs": {}, "outputs": {OUTPUT: digest(project / OUTPUT)}}
    (project / OUTPUT).write_text("mine\n")
    assert not stamps.keep(["table:a"], [entry])


def test_record_of_more_steps_is_kept_after_a_build_of_fewer(recorded):
    before = (recorded / FILE).read_bytes()
    time.sleep(0.03)
    assert record(recorded, stamps_of(recorded), steps=["source:a"])
    assert (recorded / FILE).read_bytes() == before
    change_text(recorded / SOURCE)
    time.sleep(0.03)
    assert record(recorded, stamps_of(recorded), steps=["source:a"])
    assert json.loads((recorded / FILE).read_text())["value"]["steps"] == ["source:a"]
