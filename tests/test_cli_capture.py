"""From a local model folder to a table on the command line: capture, heads, table, and their errors."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from boundpaper.store.schema import check
from build import main
from conftest import ROOT, capture_lab, run

pytestmark = pytest.mark.models
CONTEXT, DOCUMENTS = 32, 12


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return a copy of the project, a model folder and texts."""
    return capture_lab(tmp_path_factory.mktemp("lab"), DOCUMENTS)


@pytest.fixture(autouse=True)
def _use_copy(lab, monkeypatch):
    monkeypatch.setattr("build.ROOT", lab / "project")
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(lab / "project"))


def capture_options(lab, out):
    options = ["--model", str(lab / "tiny"), "--texts", str(lab / "texts.jsonl"), "--context", str(CONTEXT)]
    return [*options, "--buckets", "4", "--rate", "8", "--dtype", "fp32", "--device", "cpu", "--out", str(out)]


def invoke(*arguments):
    """Run a command in this process, where torch is already imported."""
    return CliRunner().invoke(main, arguments)


def capture(lab, out, *changes):
    return invoke("capture", *capture_options(lab, out), *changes)


def contents(root):
    return {path.parent.name: path.read_bytes() for path in sorted(root.glob("l*/data.parquet"))}


def test_captured_model_folder_becomes_a_table_row(lab, tmp_path):
    result = run(lab / "project", "capture", *capture_options(lab, tmp_path / "capture"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(tmp_path / "capture")
    assert result.stderr == ""  # quiet when piped
    note = json.loads((tmp_path / "capture/manifest.json").read_text())
    assert note["complete"]
    assert len(note["documents"]) == DOCUMENTS
    again = capture(lab, tmp_path / "capture")
    assert again.exit_code == 0, again.output
    assert "already captured" in again.stderr
    files = invoke("heads", str(tmp_path / "capture"), "--jobs", "1")
    assert files.exit_code == 0, files.output
    assert "12 heads" in files.stderr
    manifest = json.loads((lab / "project/artifacts/measurements/model_metrics/tiny.json").read_text())
    assert manifest["capture"]["model"] == "tiny"
    assert "torch" in manifest["versions"]
    assert not [fault for line in files.stdout.split() for fault in check(lab / "project", line.split("/")[2])]
    table = run(lab / "project", "table", "model_plasticity", "--format", "markdown")
    assert table.returncode == 0, table.stderr
    assert "\n| tiny" in table.stdout
    assert "key heads, 32 tokens" in table.stdout


def test_parallel_capture_jobs_give_the_same_files(lab, tmp_path):
    assert capture(lab, tmp_path / "one", "--documents", "4").exit_code == 0
    result = capture(lab, tmp_path / "two", "--documents", "4", "--jobs", "2")
    assert result.exit_code == 0, result.output
    assert "share 2 of 2: finished" in result.stderr
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert list((tmp_path / "two/.jobs").glob("*/log.txt"))


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        (["--quantize", "int3"], 2, "'int3' is not one of"),
        (["--executor", "slrum"], 2, "'slrum' is not one of"),
        (["--device", "gpu"], 1, "device 'gpu' is unknown"),
        (["--context", "400"], 1, "has 41 tokens, fewer than the context of 400; give --context 41 or less"),
        (["--context", "33"], 1, "does not divide into 4 equal buckets"),
        (["--model", "no/such/folder"], 1, "neither a local folder nor"),
    ],
)
def test_invalid_capture_arguments_are_reported_in_one_line(lab, tmp_path, changes, code, message):
    result = capture(lab, tmp_path / "out", *changes)
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert isinstance(result.exception, SystemExit)  # other errors are printed with a traceback


def test_missing_torch_error_gives_the_install_command(lab, tmp_path):
    program = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'build.py'; import build; build.main()"
    options = ["--model", str(lab / "tiny"), "--texts", str(lab / "texts.jsonl"), "--context", "32"]
    command = [sys.executable, "-c", program, "capture", *options, "--out", str(tmp_path / "out")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert "torch is not installed" in result.stderr
    assert "-m pip install -c constraints.txt '.[models]'" in result.stderr
    assert "Traceback" not in result.stderr
