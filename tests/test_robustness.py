"""Caches are verified before use, invalid input gives a short error, and no files are left behind."""

import os
import signal
import subprocess
import sys

import jinja2
import pytest
from click.testing import CliRunner

import build
from boundpaper.build.facts import FactReader
from boundpaper.build.state import State, keep_steps
from boundpaper.errors import SpecError, ThesisError
from boundpaper.paper import lint
from boundpaper.store import files
from boundpaper.store.cached_files import pack_value, read_kept
from boundpaper.store.json_lines import line_values
from boundpaper.store.text_file import json_of, text_of, yaml_of
from boundpaper.typeset.templates import environment
from conftest import ROOT

ENTRY = {"inputs": [0], "outputs": {"out/b": "2"}, "seconds": 0.5}

STORED = {"format": 2, "files": [["a", "1"]]}


def state(tmp_path, content):
    path = tmp_path / "state.json"
    path.write_bytes(content.encode() if isinstance(content, str) else pack_value(content))
    return State(path).steps


def test_build_state_is_restored(tmp_path):
    entry = {**ENTRY, "inputs": {"a": "1"}}
    keep_steps(tmp_path / "state.json", {"table:a": entry})
    assert State(tmp_path / "state.json").steps == {"table:a": entry}
    assert read_kept(tmp_path / "state.json") == {**STORED, "steps": {"table:a": ENTRY}}


@pytest.mark.parametrize(
    "content",
    [
        {**STORED, "steps": None},
        {**STORED, "steps": []},
        STORED,
        {"format": 2, "steps": {"table:a": ENTRY}},
        {**STORED, "files": [], "steps": {"table:a": ENTRY}},
        {**STORED, "files": [["a"]], "steps": {"table:a": ENTRY}},
        {**STORED, "format": 1, "steps": {"table:a": ENTRY}},
        [],
        "x",
        None,
        {**STORED, "steps": {"table:a": {}}},
        {**STORED, "steps": {"table:a": None}},
        {**STORED, "steps": {"table:a": {**ENTRY, "inputs": {"a": "1"}}}},
        {**STORED, "steps": {"table:a": {**ENTRY, "outputs": {"out/b": 1}}}},
        {**STORED, "steps": {"table:a": {**ENTRY, "seconds": "long"}}},
        '{"format": 2, "files": [], "steps": ' + "[" * 100_000,
        *(
            {**STORED, "steps": {"table:a": {**ENTRY, "outputs": {path: "1"}}}}
            for path in ("scratch/victim.txt", "/etc/x", "out/../victim.txt", "../out/x", "build.py", "out/./x")
        ),
    ],
)
def test_invalid_or_escaping_build_state_is_discarded(tmp_path, content):
    assert state(tmp_path, content) == {}


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "x",
        {"format": 1, "facts": None},
        {"format": 1, "facts": {"a.py": {}}},
        {"format": 1, "facts": {"a.py": {"stamp": "", "error": "", "imports": [1], "functions": []}}},
        {"format": 1, "facts": {"a.py": {"stamp": "", "error": "", "imports": [], "functions": [{"name": "f"}]}}},
        {"format": 1, "facts": {"a.py": {"stamp": "", "error": "", "calls": [["n"]]}}},
        "[" * 100_000,
    ],
)
def test_invalid_facts_are_read_again(tmp_path, content):
    (tmp_path / "a.py").write_text("def f(x): pass\n")
    cache = tmp_path / "facts.json"
    cache.write_bytes(content.encode() if isinstance(content, str) and content != "x" else pack_value(content))
    assert [function["name"] for function in FactReader(tmp_path, cache).python("a.py")["functions"]] == ["f"]


def test_facts_are_restored_and_an_unwritable_cache_is_ignored(tmp_path):
    (tmp_path / "a.py").write_text("def f(x, y=1): pass\n")
    cache = tmp_path / "facts.json"
    first = FactReader(tmp_path, cache)
    facts = first.python("a.py")
    first.save()
    assert FactReader(tmp_path, cache)._facts == {"a.py": facts}
    (tmp_path / "file").write_text("")
    reader = FactReader(tmp_path, tmp_path / "file/facts.json")
    reader.python("a.py")
    reader.save()
    assert (tmp_path / "file").read_text() == ""


def test_temporary_file_name_is_recognised_by_sweep(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 2**22 + 5)
    monkeypatch.setattr(os, "replace", lambda *paths: os.kill)
    files.draft(tmp_path / "data.parquet").write_text("x")
    files.write(tmp_path / "a.csv", b"x")
    assert len(files.remove_drafts(tmp_path)) == 2


@pytest.mark.parametrize(("number", "message"), [(27, "ulimit -f"), (28, "the disk is full"), (13, "permissions")])
def test_write_error_states_its_cause_and_leaves_no_partial_file(number, message, tmp_path, monkeypatch):
    def failing(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(ThesisError, match=message):
        files.write(tmp_path / "a/b", b"x")
    assert list((tmp_path / "a").iterdir()) == []


def test_unreadable_text_files_are_named(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"a\n\xff")
    with pytest.raises(SpecError, match=r"folder: cannot be read \(Is a directory\)"):
        text_of(tmp_path, "folder", SpecError)
    with pytest.raises(SpecError, match=r"bytes:2: not UTF-8 \(byte 2\)"):
        yaml_of(tmp_path, "bytes", SpecError)
    with pytest.raises(FileNotFoundError):
        json_of(tmp_path, "absent")


def test_nul_byte_is_reported_with_its_line(tmp_path):
    """LaTeX ignores a NUL byte silently."""
    (tmp_path / "a.tex.j2").write_bytes(b"one\ntwo\x00\n")
    with pytest.raises(SpecError, match=r"a\.tex\.j2:2: a NUL byte"):
        text_of(tmp_path, "a.tex.j2", SpecError)
    with pytest.raises(jinja2.TemplateSyntaxError, match="a NUL byte"):
        environment(tmp_path).get_template("a.tex.j2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("def measure(:\n", "experiments/odd_{}.py:1: invalid syntax"),
        ("x = 1\0\n", "experiments/odd_{}.py:1: source code"),
        ("import os\nSETTINGS = nothing\n", "NameError: name 'nothing' is not defined"),
        ("SETTINGS = {{}}\n", "experiments/odd_{}.py: has no `measure`"),
        ("def measure(subject, options): ...\n", "experiments/odd_{}.py: has no `SETTINGS`"),
    ],
)
def test_invalid_experiment_is_named(content, message, tmp_path, monkeypatch, request):
    from keyquery import experiments
    from keyquery.measure import choices
    from keyquery.measure.run import experiment

    number = request.node.callspec.indices["content"]
    monkeypatch.setattr(choices, "EXPERIMENTS", (f"odd_{number}",))
    (tmp_path / "experiments").mkdir()
    (tmp_path / f"experiments/odd_{number}.py").write_text(content.replace("{{}}", "{}"))
    monkeypatch.setattr(experiments, "__path__", [str(tmp_path / "experiments")])
    with pytest.raises(SpecError) as error:
        experiment(f"odd_{number}")
    assert message.format(number) in str(error.value)
    assert f"odd_{number}.py" in str(error.value)


def test_long_word_is_scanned_in_linear_time():
    # With quadratic work this would take hours.
    word = "x" * 3_000_000
    assert lint.find_typed_digits(word, "a.tex.j2") == []
    assert len(lint.find_typed_digits(f"{word}1 and 7", "a.tex.j2")) == 2


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_tolerance_must_be_a_number(value):
    result = CliRunner().invoke(build.main, ["diff", "HEAD", "--tolerance", value])
    assert result.exit_code == 2
    assert "--tolerance" in result.output


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError(28, "No space left on device"),
            "error: the output, or a cache or temporary file below out/: the disk is full; free some space",
        ),
        (PermissionError(13, "Permission denied", "x.csv"), "error: x.csv: Permission denied"),
        (UnicodeEncodeError("latin-1", "a\u2212", 1, 2, "no"), "the output's encoding latin-1 cannot encode '\\u2212'"),
    ],
)
def test_unwritable_output_is_reported_in_one_line(error, message, monkeypatch):
    def failing(root, *arguments):
        raise error

    monkeypatch.setattr("boundpaper.checks.full_package", failing)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    result = CliRunner().invoke(build.main, ["check"])
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_ctrl_c_during_command_import_prints_nothing():
    script = (
        "import os, runpy, signal, sys\nclass Interrupting:\n    def find_spec(self, name, path=None, "
        "target=None):\n        if name == 'click':\n            os.kill(os.getpid(), "
        "signal.SIGINT)\nsys.meta_path.insert(0, Interrupting())\nsys.argv = ['build.py', "
        "'list']\nrunpy.run_path('build.py', run_name='__main__')\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == -signal.SIGINT
    assert result.stderr == ""


def test_output_into_a_missing_folder_is_refused(tmp_path, monkeypatch):
    class Project:
        graph = None

        def build(self, keys):
            pass

    from contextlib import nullcontext

    monkeypatch.setattr("boundpaper.cli.exhibits.session", lambda: nullcontext(Project()))
    monkeypatch.setattr("boundpaper.cli.exhibits.steps_named", lambda *arguments: [])
    result = CliRunner().invoke(build.main, ["table", "x", "-o", str(tmp_path / "absent/t.tex")])
    assert result.exit_code == 2
    assert "no folder" in result.output
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", '{"a": {"b": 1, "c": 2, "b": 1}}', "a.json: the key 'b' occurs twice in one object"),
        ("a.json", '[{"a": 1}, {"a": 1, "a": 2, "a": 3}]', "a.json: the key 'a' occurs 3 times"),
        ("a.jsonl", '{"a": 1}\n{"a": [{"": 0, "": 0}]}\n', "a.jsonl:2: not JSON (the key '' occurs twice"),
        ("a.yaml", "a: 1\nb: 2\na: 3\n", "a.yaml:3: the key 'a' is already at line 1"),
        ("a.yaml", "x:\n  - {p: 1, q: 2, p: 1}\n", "a.yaml:2: the key 'p' is already at line 2"),
        ("a.yaml", "base: &b {p: 1}\nx:\n  <<: *b\n  1: a\n  1: b\n", "a.yaml:5: the key '1' is already at line 4"),
    ],
)
def test_duplicate_key_is_refused(name, content, message, tmp_path):
    """Ordinary readers of JSON and YAML silently keep the last duplicate."""
    (tmp_path / name).write_text(content)
    reader = {".json": json_of, ".yaml": yaml_of}.get((tmp_path / name).suffix)
    with pytest.raises(ThesisError) as error:
        reader(tmp_path, name) if reader else list(line_values(tmp_path / name))
    assert message in str(error.value)


def test_key_that_overrides_a_merged_one_is_accepted(tmp_path):
    (tmp_path / "a.yaml").write_text("a: &a {p: 1, q: 2}\nb: &b {<<: *a, p: 3}\nc: [{<<: [*a, *b], q: 4}]\n")
    assert yaml_of(tmp_path, "a.yaml") == {"a": {"p": 1, "q": 2}, "b": {"p": 3, "q": 2}, "c": [{"p": 1, "q": 4}]}
