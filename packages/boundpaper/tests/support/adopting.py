"""A small paper with data, and helpers that adopt it on the command line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from boundpaper.cli.door import command_line

MAIN = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\title{Sunlight adds 0.831 to beans}
\begin{document}
\maketitle
\section{A gain of 0.831}
The bean gains 0.831, a loss of $-0.314$ is the pea's; 91{,}270 pods, .7212 of them red, 83.14\% ripe.
\begin{table}\caption{Height 0.7212.}\centering
\begin{tabular}{lr}\toprule Bean & 0.8314 \\ \midrule Pea & 0.7212 \\ \bottomrule\end{tabular}
\end{table}
\end{document}
"""
HEIGHTS = "plant,lamp,gain,loss,pods\nbean,1,0.8314,0.25,91270\npea & co,1,0.7212,-0.314,3200\nbean,2,0.52,-0.2,17\n"
TRIAL = '{"trial": {"sun": {"share": 0.6453, "late ms": 2295, "word": "5% off"}}, "runs": [1, 2.5]}'


def folder(root, main=MAIN, **files):
    """Write a folder with a main file and data; names of other files use `__` for a slash and `_dot_` for a dot."""
    (root / "results").mkdir(parents=True, exist_ok=True)
    (root / "main.tex").write_bytes(main if isinstance(main, bytes) else main.encode())
    (root / "results/heights.csv").write_text(HEIGHTS)
    (root / "results/trial.json").write_text(TRIAL)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def run(root, *words, code=0, given=None):
    """Run a command in a folder; return its output and errors together."""
    before = Path.cwd()
    os.chdir(root)
    try:
        done = CliRunner().invoke(command_line(), list(words), input=given, prog_name="boundpaper")
    finally:
        os.chdir(before)
    assert "Traceback" not in done.output, done.output
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.output


def begun(root, *words, **files):
    """Return a folder in which `init` has been run."""
    folder(root, **files)
    run(root, "init", *words)
    return root


def pdf_text(root, main="main", *, sound=True):
    """Return the text printed by two passes of pdflatex; with `sound`, the log must contain no error."""
    for _ in range(2):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", f"{main}.tex"], cwd=root, capture_output=True, check=False
        )
    log = (root / f"{main}.log").read_text(errors="replace")
    errors = [line for line in log.splitlines() if line.startswith("!")]
    assert not (sound and (errors or done.returncode)), "\n".join(errors) or log[-2000:]
    return subprocess.run(["pdftotext", "-layout", f"{main}.pdf", "-"], cwd=root, capture_output=True, text=True).stdout


def git(root, *words):
    """Run git in a folder with a test identity."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *who, *words), cwd=root, check=True, capture_output=True)


def committed(root):
    """Commit the folder in a new repository."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")


def has(file):
    """Return whether TeX finds a file."""
    return bool(subprocess.run(["kpsewhich", file], capture_output=True).stdout)


def needs(*files):
    """Return a mark that skips a test if TeX lacks a file."""
    absent = [name for name in files if not has(name)]
    return pytest.mark.skipif(bool(absent), reason=f"TeX has no {', '.join(absent)}")


def program(name):
    """Return a mark that skips a test if a program is not installed."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name}")
