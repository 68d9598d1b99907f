"""Speed of the build, as ratios to baselines timed in the same run.

    python benchmarks/build.py [--repeat 3] [--folder DIR] [--against REVISION]

A command with nothing to do is compared with `python -c "import click"`. The TeX stage is compared with one monolithic
latexmk run of the same thesis (figures inlined as PGFPlots code, the same tables and PNG heat maps). Only TeX is timed
in this stage, not what Python computes: figures are compiled side by side, then the thesis. The critical path is the
least time with any number of processes: the longest figure, or the time of all figures divided by the cores, and then
the thesis. The script works in a clone of the repository with its history, which the site shows. The commands `trace`,
`site` and `diff` run once in the built project, `trace` twice. With --against, a clone of REVISION is built in the same
Python environment, and the commands run there too. The script prints Markdown tables: the least wall and CPU seconds of
the repeats (child processes included), whether each goal is met, and the seconds by kind of build step.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PICTURE = re.compile(r"\\includegraphics(\[[^]]*\])?\{figures/[^}]*\}")
IN_PRINT = re.compile(r"\\input\{tables/(\w+)\}")
AGAIN = ", again"
SECOND_GOALS = {"trace 0.935": 5.0, f"trace 0.935{AGAIN}": 1.0, "site": 15.0, "diff HEAD": 3.0}
"""Commands that read a whole built project, and the maximum seconds of each."""
RATIO_GOALS = {"paper": 35 / 69, "site": 15 / 47, f"trace 0.935{AGAIN}": 1 / 17}
"""Commands compared with another revision, and the maximum ratio of each; `paper` builds from nothing."""
Seconds = tuple[float, float]  # by the clock, by the processor
END = r"\csname endofdump\endcsname"


def time_action(action: Callable[[], object]) -> Seconds:
    """Return the wall seconds of an action, and the CPU seconds of its child processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    action()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fastest_times(action: Callable[[], object], repeat: int, before: Callable[[], object] = lambda: None) -> Seconds:
    """Return the least wall and CPU seconds of several runs of an action; `before` is called before each run."""
    runs = []
    for _ in range(repeat):
        before()
        runs.append(time_action(action))
    return min(run[0] for run in runs), min(run[1] for run in runs)


def run_quietly(*command: str, cwd: Path, env: dict[str, str] | None = None) -> None:
    """Run a command quietly; if it fails, exit with its output."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def write_inlined(project: Path, target: Path) -> None:
    """Write the thesis, with all figures inlined, to a separate folder."""
    from boundpaper.paper import bibliography

    out = project / "out"
    shutil.copytree(out, target, ignore=shutil.ignore_patterns("state", "logs", "checked", "claims", "*.pdf"))
    (target / "references.bib").write_text(bibliography.read(project).text, encoding="utf-8")
    preamble, figures = "", {}
    for path in sorted({*(target / "figures").glob("*.tex")} - {*(target / "figures").glob("*.float.tex")}):
        text = path.read_text(encoding="utf-8")
        preamble = text.partition(END)[0]
        body = re.search(r"\\begin\{document\}(.*)\\end\{document\}", text, re.DOTALL)
        assert body, path
        figures[path.stem] = body[1].replace("{" + path.stem, "{figures/" + path.stem)
    for path in (target / "figures").glob("*.float.tex"):
        name = path.name.removesuffix(".float.tex")
        path.write_text(PICTURE.sub(rf"\\input{{figures/{name}.body}}", path.read_text()), encoding="utf-8")
        (target / f"figures/{name}.body.tex").write_text(figures[name], encoding="utf-8")
    thesis = (target / "thesis.tex").read_text(encoding="utf-8")
    in_thesis = re.compile(r"\\(documentclass|pdftrailerid|usepackage\[T1|RequirePackage)")
    added = [line for line in preamble.splitlines() if not in_thesis.match(line)]
    thesis = thesis.replace(r"\begin{document}", "\n".join(added) + "\n\\begin{document}", 1)
    (target / "thesis.tex").write_text(thesis)


def clone(folder: Path, revision: str = "") -> None:
    """Clone the repository with its history, at a revision or, without one, with the working tree as a new commit."""
    git = ("git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    run_quietly(*git, "clone", "-q", "--shared", "--no-checkout", str(ROOT), str(folder), cwd=ROOT)
    if not revision:
        ignore = shutil.ignore_patterns("out", ".git", ".venv", ".*_cache", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=ignore, dirs_exist_ok=True)
    commit = (("reset", "-q"), ("add", "-A"), ("commit", "-qm", "Working tree", "--allow-empty"))
    for arguments in (("checkout", "-q", revision),) if revision else commit:
        run_quietly(*git, *arguments, cwd=folder)


def first_table(project: Path) -> str:
    """Return the name of the first table shown in a chapter of a built thesis."""
    chapters = sorted((project / "out/chapters").glob("*.tex"))
    return next(found[1] for path in chapters if (found := IN_PRINT.search(path.read_text(encoding="utf-8"))))


def main() -> None:
    """Run all measurements and print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="Folder to work in [a temporary folder].")
    parser.add_argument("--against", metavar="REVISION", help="Also build this revision, and print ratios to it.")
    options = parser.parse_args()
    from boundpaper.paper import bibliography, document
    from boundpaper.paper.tex import figure_pdf
    from boundpaper.paper.tex.latex import environment

    with tempfile.TemporaryDirectory() as scratch:
        base = options.folder or Path(scratch)
        project = base / "project"
        clone(project)
        build = (sys.executable, "build.py", "paper")
        cold = time_action(lambda: run_quietly(*build, cwd=project))
        rows = []

        click = fastest_times(lambda: run_quietly(sys.executable, "-c", "import click", cwd=project), options.repeat)
        noop = fastest_times(lambda: run_quietly(*build, cwd=project), options.repeat)
        rows.append(("no-op `paper`", noop, 'python -c "import click"', click))
        changed = first_table(project)
        fresh = fastest_times(lambda: run_quietly(*build[:2], "table", changed, cwd=project), options.repeat)
        rows.append(("fresh `table`", fresh, 'python -c "import click"', click))
        profile = step_seconds(project)
        wide = time_commands(project)
        ratios = ratios_to(options.against, base / "against", {"paper": cold, **wide}) if options.against else []

        monolith = base / "monolith"
        write_inlined(project, monolith)
        latexmk = ("latexmk", "-norc", "-pdf", "-silent", "-pdflatex=pdflatex -no-shell-escape %O %S", "thesis.tex")
        env = {**os.environ, **environment()}

        def clean_single() -> None:
            run_quietly("latexmk", "-norc", "-C", "thesis.tex", cwd=monolith, env=env)
            (monolith / "thesis.bbl").unlink(missing_ok=True)

        out, seconds = project / "out", dict[str, float]()

        def clean_split() -> None:
            for folder in ("state/latex", "state/formats"):
                shutil.rmtree(out / folder, ignore_errors=True)
            (out / document.STATE).mkdir(parents=True)
            (out / document.STATE / "references.bib").write_text(bibliography.read(project).text, encoding="utf-8")

        def compile_one(name: str) -> None:
            start = time.perf_counter()
            (out / f"figures/{name}.pdf").write_bytes(figure_pdf.compile_figure(out, name))
            seconds[name] = time.perf_counter() - start

        compile_whole = partial(document.compile_thesis, project)
        names = [path.stem for path in (out / "figures").glob("*.pdf")]
        longest = sorted(names, key=lambda name: (-profile.get(f"picture:{name}", 0.0), name))

        def compile_split() -> None:
            with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
                list(pool.map(compile_one, longest))
            start = time.perf_counter()
            compile_whole()
            seconds["thesis"] = time.perf_counter() - start

        slow = fastest_times(lambda: run_quietly(*latexmk, cwd=monolith, env=env), 1, clean_single)
        fast = fastest_times(compile_split, options.repeat, clean_split)
        rows.append(("TeX stage, cold", fast, "monolithic latexmk", slow))
        path = seconds.pop("thesis") + max(*seconds.values(), sum(seconds.values()) / (os.cpu_count() or 1))
        rows.append(("TeX stage, cold", fast, "its critical path", (path, float("nan"))))

        edits = iter(range(1000))

        def edit_of_table(table: Path) -> Callable[[], None]:
            source = table.read_text(encoding="utf-8")

            def change() -> None:
                table.write_text(source.replace(r"\midrule", f"\\midrule % {next(edits)}\n", 1), encoding="utf-8")

            return change

        table = f"tables/{changed}.tex"
        before = time.time()
        slow = fastest_times(lambda: run_quietly(*latexmk, cwd=monolith, env=env), 1, edit_of_table(monolith / table))
        fast = fastest_times(compile_whole, options.repeat, edit_of_table(out / table))
        for log in (monolith / "thesis.log", out / document.STATE / "thesis.log"):
            assert log.stat().st_mtime > before, f"{log}: {table} was changed, but nothing was compiled"
        rows.append(("one table changed, TeX alone", fast, "monolithic latexmk", slow))

    print("| what | wall s | CPU s | baseline | wall s | CPU s | wall ratio | CPU ratio |")
    print("|---|--:|--:|---|--:|--:|--:|--:|")
    for what, (wall, cpu), name, (base_wall, base_cpu) in rows:
        quotients = f"{wall / base_wall:.3f} | {cpu / base_cpu:.3f}"
        print(f"| {what} | {wall:.2f} | {cpu:.2f} | {name} | {base_wall:.2f} | {base_cpu:.2f} | {quotients} |")
    print()
    print("| goal | by the clock | by the processor | at most | |")
    print("|---|--:|--:|--:|---|")
    stage = rows[2]
    for what, wall, cpu, goal in (
        ("no-op `paper`, seconds", *noop, 0.2),
        ("fresh `table`, seconds", *fresh, 0.2),
        ("TeX stage cold, of the monolithic run", stage[1][0] / stage[3][0], stage[1][1] / stage[3][1], 0.3),
        ("TeX stage cold, of its critical path", stage[1][0] / path, float("nan"), 1.3),
        ("one table changed, of the monolithic run", fast[0] / slow[0], fast[1] / slow[1], 1 / 7),
        ("whole cold `paper`, seconds", *cold, 35.0),
        *((f"`{what}`, seconds", *seconds, SECOND_GOALS[what]) for what, seconds in wide.items()),
        *ratios,
    ):
        outcome = "met" if wall <= goal else "met on an idle machine" if cpu <= goal and "seconds" in what else "missed"
        print(f"| {what} | {wall:.3f} | {cpu:.3f} | {goal:.3f} | {outcome} |")
    print()
    print("| kind of step in a whole build | steps | s | longest step | s |")
    print("|---|--:|--:|---|--:|")
    kinds: dict[str, list[tuple[float, str]]] = {}
    for key, duration in profile.items():
        kind, _, name = key.partition(":")
        kinds.setdefault(kind, []).append((duration, name))
    totals = {kind: sum(duration for duration, _ in steps) for kind, steps in kinds.items()}
    for kind, total in sorted(totals.items(), key=lambda pair: -pair[1]):
        longest_step, name = max(kinds[kind])
        print(f"| {kind} | {len(kinds[kind])} | {total:.1f} | {name} | {longest_step:.2f} |")


def time_commands(project: Path) -> dict[str, Seconds]:
    """Return wall and CPU seconds of each command of `SECOND_GOALS`, run once in a built project."""
    times = {}
    for what in SECOND_GOALS:
        command = (sys.executable, "build.py", *what.removesuffix(AGAIN).split())
        times[what] = time_action(partial(run_quietly, *command, cwd=project))
    return times


def ratios_to(revision: str, folder: Path, now: dict[str, Seconds]) -> list[tuple[str, float, float, float]]:
    """Return name, wall ratio, CPU ratio and goal of each command of `RATIO_GOALS`; clone the revision to `folder`."""
    clone(folder, revision)
    paper = time_action(lambda: run_quietly(sys.executable, "build.py", "paper", cwd=folder))
    then = {"paper": paper, **time_commands(folder)}
    return [
        (f"`{what}`, of {revision}", now[what][0] / then[what][0], now[what][1] / then[what][1], most)
        for what, most in RATIO_GOALS.items()
    ]


def step_seconds(project: Path) -> dict[str, float]:
    """Return the seconds of each step in the last whole build, from the stored state."""
    state = json.loads((project / "out/state/state.json").read_text(encoding="utf-8"))["value"]
    return {key: step["seconds"] for key, step in state["steps"].items()}


if __name__ == "__main__":
    main()
