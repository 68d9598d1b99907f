"""How fast the build is, as ratios in one run.

    python benchmarks/build.py [--repeat 3] [--folder DIR]

Baselines: `python -c "import click"` for a build with nothing to do, and one monolithic latexmk run of the same thesis
(figures inlined as PGFPlots code, the same tables and the same PNG heat maps) for the TeX stage. The project is copied
to a folder of its own, so nothing here is touched. Prints a Markdown table; CPU seconds of a process and its children,
and wall seconds, each the least of the repeats.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CHANGED = "tables/benchmarks/ap_drop.py"
END = r"\csname endofdump\endcsname"


def measured(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of an action, child processes included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    action()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(
    action: Callable[[], object], repeat: int, before: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """The least wall and CPU seconds of several runs, each after `before`."""
    runs = []
    for _ in range(repeat):
        before()
        runs.append(measured(action))
    return min(run[0] for run in runs), min(run[1] for run in runs)


def call(*command: str, cwd: Path, env: dict[str, str] | None = None) -> None:
    """Run a command quietly; say what it printed when it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def monolith(project: Path, target: Path) -> None:
    """The thesis with all figures inlined, in a folder of its own."""
    out = project / "out"
    shutil.copytree(out, target, ignore=shutil.ignore_patterns("state", "logs", "checked", "claims", "*.pdf"))
    shutil.copy(project / "paper/references.bib", target / "references.bib")
    preamble, figures = "", {}
    for path in sorted((target / "figures").glob("*.tex")):
        if path.name.endswith(".float.tex"):
            continue
        text = path.read_text(encoding="utf-8")
        preamble = text.partition(END)[0]
        body = re.search(r"\\begin\{document\}(.*)\\end\{document\}", text, re.DOTALL)
        assert body, path
        figures[path.stem] = body[1].replace("{" + path.stem, "{figures/" + path.stem)
    for path in (target / "figures").glob("*.float.tex"):
        name = path.name.removesuffix(".float.tex")
        text = re.sub(
            r"\\includegraphics(\[[^]]*\])?\{figures/[^}]*\}",
            rf"\\input{{figures/{name}.body}}",
            path.read_text(),
        )
        path.write_text(text, encoding="utf-8")
        (target / f"figures/{name}.body.tex").write_text(figures[name], encoding="utf-8")
    thesis = (target / "thesis.tex").read_text(encoding="utf-8")
    needed = [
        line
        for line in preamble.splitlines()
        if not re.match(r"\\(documentclass|pdftrailerid|usepackage\[T1|RequirePackage)", line)
    ]
    (target / "thesis.tex").write_text(
        thesis.replace(r"\begin{document}", "\n".join(needed) + "\n\\begin{document}", 1)
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to work [a temporary folder]")
    options = parser.parse_args()
    from paper.latex import environment

    with tempfile.TemporaryDirectory() as scratch:
        base = options.folder or Path(scratch)
        project = base / "project"
        shutil.copytree(ROOT, project, ignore=shutil.ignore_patterns("out", ".*", "__pycache__"))
        build = (sys.executable, "build.py", "paper")
        call(*build, cwd=project)
        rows = []

        click = least(lambda: call(sys.executable, "-c", "import click", cwd=project), options.repeat)
        noop = least(lambda: call(*build, cwd=project), options.repeat)
        rows.append(("no-op build", noop, 'python -c "import click"', click))

        single = base / "monolith"
        monolith(project, single)
        latexmk = ("latexmk", "-norc", "-pdf", "-silent", "-pdflatex=pdflatex -no-shell-escape %O %S", "thesis.tex")
        env = {**os.environ, **environment()}

        def clean_single() -> None:
            call("latexmk", "-norc", "-C", "thesis.tex", cwd=single, env=env)
            (single / "thesis.bbl").unlink(missing_ok=True)

        def clean_split() -> None:
            for path in [*(project / "out/figures").glob("*.pdf"), project / "out/thesis.pdf"]:
                path.unlink()
            for folder in ("out/state/latex", "out/state/formats"):
                shutil.rmtree(project / folder, ignore_errors=True)

        slow = least(lambda: call(*latexmk, cwd=single, env=env), 1, clean_single)
        fast = least(lambda: call(*build, cwd=project), options.repeat, clean_split)
        rows.append(("TeX stage, cold", fast, "monolithic latexmk", slow))

        text, edits = (project / CHANGED).read_text(encoding="utf-8"), iter(range(1000))

        def edit_split() -> None:
            changed = re.sub(r'Column\("lbp", "', f'Column("lbp", "v{next(edits)} ', text, count=1)
            assert changed != text, f"{CHANGED} has no column lbp to rename"
            (project / CHANGED).write_text(changed, encoding="utf-8")

        table = single / "tables/ap_drop.tex"
        source = table.read_text(encoding="utf-8")

        def edit_single() -> None:
            table.write_text(source.replace(r"\midrule", f"\\midrule % {next(edits)}\n", 1), encoding="utf-8")

        slow = least(lambda: call(*latexmk, cwd=single, env=env), 1, edit_single)
        fast = least(lambda: call(*build, cwd=project), options.repeat, edit_split)
        rows.append(("one table changed, all stages", fast, "monolithic latexmk, TeX alone", slow))

    print("| what | wall s | CPU s | baseline | wall s | CPU s | wall ratio | CPU ratio |")
    print("|---|--:|--:|---|--:|--:|--:|--:|")
    for what, (wall, cpu), name, (base_wall, base_cpu) in rows:
        ratios = f"{wall / base_wall:.3f} | {cpu / base_cpu:.3f}"
        print(f"| {what} | {wall:.2f} | {cpu:.2f} | {name} | {base_wall:.2f} | {base_cpu:.2f} | {ratios} |")


if __name__ == "__main__":
    main()
