"""Time `boundpaper init`, `lint` and `build` on a paper of 100 pages, and LaTeX reading 20,000 definitions.

    python benchmarks/adopt.py

The script writes the paper, and 10,000 numbers as its data. Each command runs in a separate process; its CPU time is
measured, including the start of Python.
"""

import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PAGES, ROWS, COLUMNS, DEFINITIONS = 100, 1_000, 10, 20_000
LINES_OF_A_PAGE = 45
REPEATS = 3


def main() -> None:
    """Measure all commands and print a Markdown table."""
    print("| what | seconds |\n|:--|--:|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_paper(root)
        for arguments in (("lint",), ("init",), ("build",), ("lint", "--fix"), ("build",), ("build", "--check")):
            repeats = 1 if arguments in (("init",), ("lint", "--fix")) else REPEATS
            seconds = fastest_seconds((sys.executable, "-m", "boundpaper", *arguments), root, repeats)
            print(f"| boundpaper {' '.join(arguments)} | {seconds:.2f} |", flush=True)
        print(f"| pdflatex, {DEFINITIONS:,} definitions more | {definition_seconds(root):.2f} |")


def write_paper(root: Path) -> None:
    """Write a paper of 100 pages with numbers from the data, other numbers, and layout."""
    rng = random.Random(1)
    cells = [[f"{rng.uniform(0, 100):.5f}" for _ in range(COLUMNS)] for _ in range(ROWS)]
    head = ",".join(["model", *(f"score{column}" for column in range(COLUMNS))])
    rows = [",".join([f"bean{number}", *row]) for number, row in enumerate(cells)]
    (root / "results.csv").write_text("\n".join([head, *rows]) + "\n")
    lines = [r"\documentclass{article}", r"\begin{document}"]
    for number in range(PAGES * LINES_OF_A_PAGE):
        value = float(rng.choice(rng.choice(cells)))
        growth = rf"{value:.4f} and by {rng.uniform(0, 1):.2f}" if number % 3 == 0 else "much"
        lines.append(
            rf"Bean {number} of Table~{number} grows by {growth}, \textbf{{more}} than \cite{{bean2020}} says."
        )
    (root / "main.tex").write_text("\n".join([*lines, r"\end{document}"]) + "\n")


def fastest_seconds(command: Sequence[str], root: Path, repeats: int) -> float:
    """Return the CPU seconds of the fastest of several runs of a command in the folder `root`."""
    times = []
    for _ in range(repeats):
        begin = child_seconds()
        subprocess.run(command, cwd=root, capture_output=True, check=False)
        times.append(child_seconds() - begin)
    return min(times)


def child_seconds() -> float:
    """Return the CPU seconds of all child processes. Other load changes them less than it changes wall time."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def definition_seconds(root: Path) -> float:
    """Return how many seconds longer LaTeX takes if `bound.tex` defines 20,000 values than if it defines 0."""
    head, _, _ = (root / "bound/bound.tex").read_text().partition("% results")
    text = r"\documentclass{article}\input{bound/VALUES}\begin{document}x\end{document}"
    lines = "".join(f"\\bound@set{{results/bean{n},{n}/score:.3f}}{{0.{n:05d}}}\n" for n in range(DEFINITIONS))
    times = []
    for name, body in (("none", ""), ("many", lines)):
        (root / f"bound/{name}.tex").write_text(f"{head}{body}\\makeatother\n")
        (root / f"{name}.tex").write_text(text.replace("VALUES", name))
        times.append(fastest_seconds(("pdflatex", "-interaction=batchmode", f"{name}.tex"), root, 2 * REPEATS))
    return times[1] - times[0]


if __name__ == "__main__":
    main()
