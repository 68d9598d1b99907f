"""File stamps show that nothing changed; any possible change is left to the hashes."""

import json
import os
import shutil
import time

import pytest

from boundpaper.build.unchanged import FILE, STATE, FileStamps, are_unchanged
from boundpaper.store import cached_files as store
from boundpaper.store.files import digest

SOURCE, MADE = "artifacts/sources/a.csv", "out/tables/a.tex"


@pytest.fixture
def project(tmp_path):
    """Return a folder with a source and its output, both older than later changes by the test."""
    for path, text in ((SOURCE, "x\n1\n"), ("tables/a.py", "code\n"), (MADE, "made\n"), (STATE, "{}")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    time.sleep(0.03)
    return tmp_path


def watch(root):
    mark = root / "out/state/lock"
    mark.write_text("here\n")
    return FileStamps(root, mark)


def keep(root, times, steps=("table:a", "source:a")):
    entry = {"inputs": {SOURCE: digest(root / SOURCE)}, "outputs": {MADE: digest(root / MADE)}}
    return times.keep(steps, [entry])


@pytest.fixture
def kept(project):
    """Return this folder, recorded as up to date."""
    assert keep(project, watch(project))
    return project


def test_step_without_changes_is_fresh(kept):
    assert are_unchanged(kept, ["table:a"])
    assert are_unchanged(kept, ["source:a", "table:a"])
    assert not are_unchanged(kept, ["table:b"])


def other_text(path):
    path.write_text("y\n2\n")


def time_put_back(path):
    before = path.stat()
    path.write_text(path.read_text().upper().replace("1", "2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)


def another_file(path):
    (path.parent / "b.csv").write_text("x\n")


def replaced(path):
    path.with_suffix(".new").write_bytes(path.read_bytes())
    os.utime(path.with_suffix(".new"), ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    path.with_suffix(".new").replace(path)


def removed(path):
    path.unlink()


@pytest.mark.parametrize("change", [other_text, time_put_back, another_file, replaced, removed])
def test_a_source_that_was_touched_is_left_to_the_hashes(kept, change):
    change(kept / SOURCE)
    assert not are_unchanged(kept, ["table:a"])


@pytest.mark.parametrize("path", [MADE, STATE, FILE])
@pytest.mark.parametrize("change", [other_text, removed])
def test_changed_output_or_build_record_is_not_taken_as_unchanged(kept, path, change):
    change(kept / path)
    assert not are_unchanged(kept, ["table:a"])


def test_copied_project_is_not_taken_as_unchanged(kept, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(kept, copy)  # copies keep their times
    assert not are_unchanged(copy, ["table:a"])


@pytest.mark.parametrize(
    "text", [*("", "[]", "{", '{"format": 0}', '{"format": 1, "steps": 3, "stamps": "", "paths": []}', "[" * 100_000)]
)
def test_damaged_record_is_ignored(kept, text):
    (kept / FILE).write_text(text)
    assert not are_unchanged(kept, [])


@pytest.mark.parametrize("steps", [3, "table:a", [["table:a"]], ["table:a", {}]])
@pytest.mark.parametrize("paths", ["paper", [["paper"]], ["a\0b"], {"paper": 1}])
def test_record_of_an_unknown_format_is_ignored(kept, steps, paths):
    for odd in ({"steps": steps, "paths": []}, {"steps": [], "paths": paths}):
        store.keep_value(kept / FILE, {"format": 1, "stamps": "", **odd})
        assert not are_unchanged(kept, [])


def test_a_source_that_changed_after_the_build_began_is_not_remembered(project):
    times = watch(project)
    other_text(project / SOURCE)
    assert not keep(project, times)
    assert not (project / FILE).exists()


def test_a_source_as_young_as_the_mark_is_not_remembered(project):
    (project / SOURCE).write_text("x\n1\n")
    mark = project / "out/state/lock"
    mark.write_text("here\n")
    moment = (project / SOURCE).stat().st_ctime_ns
    os.utime(mark, ns=(moment, moment))
    assert not keep(project, FileStamps(project, mark))


def test_built_output_is_recorded_by_its_content(project):
    times = watch(project)
    (project / MADE).write_text("made anew\n")
    assert keep(project, times)
    assert are_unchanged(project, ["table:a"])


def test_output_written_by_another_process_during_the_build_is_not_recorded(project):
    times = watch(project)
    entry = {"inputs": {}, "outputs": {MADE: digest(project / MADE)}}
    (project / MADE).write_text("mine\n")
    assert not times.keep(["table:a"], [entry])


def test_record_of_more_steps_is_kept_after_a_build_of_fewer(kept):
    before = (kept / FILE).read_bytes()
    time.sleep(0.03)
    assert keep(kept, watch(kept), steps=["source:a"])
    assert (kept / FILE).read_bytes() == before
    other_text(kept / SOURCE)
    time.sleep(0.03)
    assert keep(kept, watch(kept), steps=["source:a"])
    assert json.loads((kept / FILE).read_text())["value"]["steps"] == ["source:a"]
