"""Time `boundpaper init`, `lint` and `build` on a paper of 100 pages, and LaTeX reading 20,000 definitions.

    python benchmarks/adopt.py

The script writes the paper and its 10,000 cells. Each command runs in a separate process, and its processor time is
measured, including the start.
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
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_paper(root)
        for words in (("lint",), ("init",), ("build",), ("lint", "--fix"), ("build",), ("build", "--check")):
            once = words in (("init",), ("lint", "--fix"))
            print(
                f"| boundpaper {' '.join(words)} | {least(command(*words), root, 1 if once else REPEATS):.2f} |",
                flush=True,
            )
        print(f"| pdflatex, {DEFINITIONS:,} definitions more | {definition_seconds(root):.2f} |")


def write_paper(root: Path) -> None:
    """Write a paper of 100 pages with numbers from the data, other numbers, and layout."""
    rng = random.Random(1)
    cells = [[f"{rng.uniform(0, 100):.5f}" for _ in range(COLUMNS)] for _ in range(ROWS)]
    head = ",".join(["model", *(f"score{each}" for each in range(COLUMNS))])
    rows = [",".join([f"bean{number}", *row]) for number, row in enumerate(cells)]
    (root / "results.csv").write_text("\n".join([head, *rows]) + "\n")
    lines = [r"\documentclass{article}", r"\begin{document}"]
    for number in range(PAGES * LINES_OF_A_PAGE):
        value = float(rng.choice(rng.choice(cells)))
        grown = rf"{value:.4f} and by {rng.uniform(0, 1):.2f}" if number % 3 == 0 else "much"
        lines.append(rf"Bean {number} of Table~{number} grows by {grown}, \textbf{{more}} than \cite{{bean2020}} says.")
    (root / "main.tex").write_text("\n".join([*lines, r"\end{document}"]) + "\n")


def command(*words: str) -> Sequence[str]:
    """Return the command line of a boundpaper command."""
    return (sys.executable, "-m", "boundpaper", *words)


def least(line: Sequence[str], root: Path, repeats: int) -> float:
    """Return the seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        begin = child_seconds()
        subprocess.run(line, cwd=root, capture_output=True, check=False)
        times.append(child_seconds() - begin)
    return min(times)


def child_seconds() -> float:
    """Return the CPU seconds of all child processes, which depend less on other load than wall time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def definition_seconds(root: Path) -> float:
    """Return how many seconds longer LaTeX takes with many values in `bound.tex` than with none."""
    head, _, _ = (root / "bound/bound.tex").read_text().partition("% results")
    text = r"\documentclass{article}\input{bound/VALUES}\begin{document}x\end{document}"
    lines = "".join(
        f"\\bound@set{{results/bean{each},{each}/score:.3f}}{{0.{each:05d}}}\n" for each in range(DEFINITIONS)
    )
    times = []
    for name, body in (("none", ""), ("many", lines)):
        (root / f"bound/{name}.tex").write_text(f"{head}{body}\\makeatother\n")
        (root / f"{name}.tex").write_text(text.replace("VALUES", name))
        times.append(least(("pdflatex", "-interaction=batchmode", f"{name}.tex"), root, 2 * REPEATS))
    return times[1] - times[0]


if __name__ == "__main__":
    main()
