"""The command line: output, exit codes, and errors of one or two lines."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import build
from boundpaper import cli
from boundpaper.build.lock import lock
from conftest import ROOT, run
from specimens import fails
from waiting import until

DECILES = "artifacts/sources/reported_plasticity.csv"


def edit(root: Path, path: str, old: str, new: str, count: int = 1) -> None:
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, count))


def test_table_prints_every_format(warm):
    latex = run(warm, "table", "ap_drop").stdout
    assert latex.count("\\begin{table}") == latex.count("\\end{table}") == 1
    for part in ("\\caption", "\\label{tab:ap_drop}", "\\toprule", "\\bottomrule", "\\usebox8"):
        assert part in latex
    assert run(warm, "table", "ap_drop", "--format", "markdown").stdout.count("\n|") > 7
    assert "<table" in run(warm, "table", "ap_drop", "--format", "html").stdout
    assert len(run(warm, "table", "ap_drop", "--format", "csv").stdout.splitlines()) > 7
    assert json.loads(run(warm, "table", "ap_drop", "--format", "json").stdout)
    target = warm / "out/here.md"
    assert run(warm, "table", "ap_drop", "--format", "markdown", "--output", str(target)).stdout.strip() == str(target)
    assert "ap" in target.read_text().lower()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table", "ap_drp"], ["no table called 'ap_drp'", "did you mean ap_drop"]),
        (["why", "table:ap_drp"], ["no table called 'ap_drp'", "did you mean ap_drop"]),
        (["why", "tabel:ap_drop"], ["unknown kind 'tabel'", "did you mean table"]),
        (["tabel", "ap_drop"], ["No such command 'tabel'", "Did you mean table"]),
        (["figure", "nothing"], ["no figure called 'nothing'"]),
        (["table", "ap_drop", "--format", "word"], ["'word' is not one of"]),
        (["list", "tabel"], ["unknown kind 'tabel'", "did you mean table"]),
        (["claims", "--verdict", "contradictd"], ["no 'contradictd'", "contradicted"]),
        (["table"], ["Missing argument"]),
    ],
)
def test_wrong_usage_has_exit_code_2(built_project, arguments, message):
    fails(run(built_project, *arguments), *message, code=2)


def test_table_with_a_missing_column_is_reported(warm):
    edit(warm, "tables/benchmarks/ap_drop.py", 'Column("lbp"', 'Column("lpb"')
    fails(run(warm, "table", "ap_drop"), "table:ap_drop", "'lpb'", "lbp")


def test_exception_in_a_step_is_reported_with_its_line(warm):
    (warm / "tables/oops.py").write_text("def table(models):\n    return models['nothing']\n")
    fails(run(warm, "table", "oops"), "table:oops", "tables/oops.py:2", "KeyError")
    assert "Traceback" in run(warm, "--debug", "table", "oops").stderr


def test_a_template_error_names_file_and_line(warm):
    for path in (warm / "paper/chapters").glob("*"):
        path.unlink()
    edit(warm, "paper/metadata.yaml", "chapters: [introduction", "chapters: [oops] # [introduction")
    edit(warm, "paper/metadata.yaml", "appendices: [", "appendices: [] # [")
    (warm / "paper/chapters/oops.tex.j2").write_text(
        "\\chapter{X}\n\n<< n('models', model='qwen3-9b', value='layers') >>\n"
    )
    fails(run(warm, "paper"), "paper/chapters/oops.tex.j2:3", "qwen3-9b")


def test_faults_in_other_files_are_warnings(warm):
    (warm / "tables/broken.py").write_text("def table(:\n")
    result = run(warm, "table", "models")
    assert result.returncode == 0
    assert "warning: tables/broken.py: line 1" in result.stderr


@pytest.mark.latex
def test_latex_error_names_the_exhibit_and_the_message(warm):
    (warm / "figures/oops.py").write_text(
        "from boundpaper.figures import Figure\ndef figure(models):\n"
        "    return Figure(caption='x', body=r'\\begin{tikzpicture}\\nonsense\\end{tikzpicture}')\n"
    )
    fails(run(warm, "figure", "oops"), "picture:oops", "out/figures/oops.tex", "Undefined control sequence")


def test_missing_tex_still_writes_every_source_and_gives_the_install_command(warm):
    environment = {**os.environ, "PATH": str(Path(sys.executable).parent)}
    result = run(warm, "figure", "decile_profiles", env=environment)
    fails(result, "apt-get install")
    assert (warm / "out/figures/decile_profiles.tex").is_file()


def test_two_builds_wait_for_each_other(project):
    with lock(project / "out/state/lock", print):
        waiting = subprocess.Popen(
            [sys.executable, "build.py", "table", "models"],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert "another build" in waiting.stderr.readline()
        assert waiting.poll() is None
    assert waiting.communicate()[0].startswith("%")
    assert waiting.returncode == 0


def test_a_killed_build_leaves_nothing_half_written(project):
    build_process = subprocess.Popen([sys.executable, "build.py", "analyze"], cwd=project, stderr=subprocess.DEVNULL)
    until(lambda: (project / "out/checked").is_dir() or build_process.poll() is not None)
    build_process.send_signal(signal.SIGKILL)
    build_process.wait()
    for path in (project / "out").rglob("*.json"):
        if not path.name.endswith(".part"):
            json.loads(path.read_text())
    assert run(project, "table", "ap_drop").returncode == 0


def test_ctrl_c_ends_the_build_with_a_message(project):
    build_process = subprocess.Popen(
        [sys.executable, "build.py", "analyze"], cwd=project, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: (project / "out/checked").is_dir() or build_process.poll() is not None)
    os.killpg(build_process.pid, signal.SIGINT)
    _, errors = build_process.communicate()
    assert build_process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors


def test_a_build_writes_only_out_and_results(warm):
    run(warm, "table", "ap_drop")

    def snapshot() -> dict[str, int]:
        paths = (path for path in warm.rglob("*") if path.is_file())
        names = {path.relative_to(warm).as_posix(): path.stat().st_mtime_ns for path in paths}
        return {name: stamp for name, stamp in names.items() if not name.startswith(("out/", "artifacts/results/"))}

    before = snapshot()
    edit(warm, DECILES, "0.6224", "0.6225")
    assert run(warm, "table", "ap_drop", "model_plasticity").returncode == 0
    assert snapshot().keys() == before.keys()


def imported(root: Path, *arguments: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "build.py", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in result.stderr.splitlines() if "|" in line}


def test_a_command_is_a_file_of_its_folder(tmp_path, monkeypatch):
    (tmp_path / "greeting.py").write_text(
        "import click\n@click.command()\ndef greet():\n    click.echo('hello')\nCOMMANDS = (greet,)\n"
    )
    (tmp_path / "machinery_of_it.py").write_text("import click\n@click.command()\ndef unseen():\n    pass\n")
    monkeypatch.setattr("boundpaper.cli.__path__", [*cli.__path__, str(tmp_path)])
    names = [str(command.name) for command in cli.commands(ROOT)]
    assert {"greet", "paper", "new", "list", "run", "lab"} <= set(names)
    assert "unseen" not in names
    assert len(names) == len(set(names))
    assert sorted(set(names) - {"greet"}) == build.main.list_commands(click.Context(build.main))


def test_shell_completion_finds_the_project_root():
    from boundpaper.cli.project import root

    assert root() == ROOT  # no command has started


def test_up_to_date_build_imports_no_heavy_package(built_project):
    run(built_project, "table", "ap_drop")
    light = imported(built_project, "table", "ap_drop")
    assert not light & {"pandas", "numpy", "jinja2", "yaml", "frictionless", "torch", "scipy"}


def test_torch_is_not_imported_by_light_commands(project):
    for command in ("check", "list", "table models", "figure decile_profiles --format tex"):
        assert "torch" not in imported(project, *command.split()), command


def test_why_lists_what_changed(project):
    assert "never built here" in run(project, "why", "table:ap_drop").stdout
    run(project, "table", "ap_drop")
    assert run(project, "why", "table:ap_drop").stdout == "table:ap_drop is up to date\n"
    edit(project, DECILES, "0.6224", "0.6225")
    assert f"source:reported_plasticity: {DECILES} changed" in run(project, "why", "table:ap_drop").stdout


def test_clean_removes_out(project):
    run(project, "table", "models")
    assert run(project, "clean").returncode == 0
    assert not (project / "out").exists()


def test_version_option_prints_the_project_version(built_project):
    result = run(built_project, "--version")
    assert result.returncode == 0
    assert f'version = "{result.stdout.split()[-1]}"' in (ROOT / "pyproject.toml").read_text()


def test_doctor_and_completion_print_their_report(built_project):
    assert "()" not in run(built_project, "doctor").stdout
    assert "Python 3" in run(built_project, "doctor").stdout
    assert "_BUILD_PY_COMPLETE" in run(built_project, "completion", "bash").stdout


def test_missing_package_error_gives_the_install_command(project):
    (project / "yaml.py").write_text("raise ModuleNotFoundError('no', name='yaml')\n")
    bare = {"env": dict(os.environ)}  # a new interpreter that has not imported yaml
    result = run(project, "table", "models", **bare)
    fails(result, "yaml is not installed; run:", "pip install -c constraints.txt .")
    fails(run(project, "check", **bare), "yaml is not installed")
