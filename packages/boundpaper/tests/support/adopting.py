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


def write_paper(root, main=MAIN, **files):
    """Write a main file, data and other files, in whose names `__` is a slash and `_dot_` a dot; return the folder."""
    (root / "results").mkdir(parents=True, exist_ok=True)
    (root / "main.tex").write_bytes(main if isinstance(main, bytes) else main.encode())
    (root / "results/heights.csv").write_text(HEIGHTS)
    (root / "results/trial.json").write_text(TRIAL)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def run(root, *arguments, code=0, stdin=None):
    """Run a command in a folder with an expected exit code; return its output and errors together."""
    previous = Path.cwd()
    os.chdir(root)
    try:
        result = CliRunner().invoke(command_line(), list(arguments), input=stdin, prog_name="boundpaper")
    finally:
        os.chdir(previous)
    assert "Traceback" not in result.output, result.output
    assert result.exit_code == code, result.output + repr(result.exception)
    return result.output


def adopted(root, *arguments, **files):
    """Write a paper and run `init` in its folder; return the folder."""
    write_paper(root, **files)
    run(root, "init", *arguments)
    return root


def pdf_text(root, passes=1):
    """Return the text that pdflatex prints without an error; a table of contents needs two passes."""
    for _ in range(passes):
        command = ["pdflatex", "-interaction=nonstopmode", "main.tex"]
        result = subprocess.run(command, cwd=root, capture_output=True, check=False)
    log = (root / "main.log").read_text(errors="replace")
    assert not result.returncode, "\n".join(line for line in log.splitlines() if line.startswith("!")) or log[-2000:]
    return subprocess.run(["pdftotext", "-layout", "main.pdf", "-"], cwd=root, capture_output=True, text=True).stdout


def git(root, *words):
    """Run git in a folder with a test identity."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *identity, *words), cwd=root, check=True, capture_output=True)


def commit_all(root):
    """Commit the folder in a new repository."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")


def tex_finds(file):
    """Return whether a file is installed with TeX."""
    return bool(subprocess.run(["kpsewhich", file], capture_output=True).stdout)


def needs_tex(*files):
    """Return a mark that skips a test if TeX lacks a file."""
    missing = [name for name in files if not tex_finds(name)]
    return pytest.mark.skipif(bool(missing), reason=f"TeX has no {', '.join(missing)}")


def needs_program(name):
    """Return a mark that skips a test if a program is not installed."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name}")
