"""Count the lines of Python in each code folder of the repository, and compare them with its budget.

    python benchmarks/lines.py

The script counts all lines of the files that git tracks, with blank lines and comments.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = {
    "packages/boundpaper": 38_475,
    "packages/keyquery": 27_825,
    "analysis": 29_565,
    "tables": 7_085,
    "figures": 3_660,
    "tests": 60_900,
    "benchmarks": 2_170,
    "docs": 160,
    "the top": 20,
}
"""Maximum number of lines of each code folder; tests of the packages count as `tests`."""


def count_lines(root: Path) -> dict[str, dict[str, int]]:
    """Return the number of lines of each tracked Python file by code folder: a package, or else a top-level folder."""
    listed = subprocess.run(("git", "ls-files", "*.py"), cwd=root, capture_output=True, text=True, check=True).stdout
    by_room: dict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted(listed.splitlines()):
        first, *rest = path.split("/")
        room = "the top" if not rest else f"{first}/{rest[0]}" if first == "packages" else first
        if "tests" in path.split("/"):
            room = "tests"
        by_room[room][path] = len((root / path).read_text(encoding="utf-8").splitlines())
    return dict(by_room)


def main() -> None:
    """Print a Markdown table; exit with 1 if a folder exceeds its budget."""
    counted = count_lines(ROOT)
    print("| room | lines | budget | files | the largest | lines |")
    print("|:--|--:|--:|--:|:--|--:|")
    for room, files in counted.items():
        most = max(files, key=lambda path: files[path])
        name = most.rpartition("/")[2]
        print(f"| {room} | {sum(files.values()):,} | {BUDGET[room]:,} | {len(files)} | {name} | {files[most]} |")
    sys.exit(any(sum(files.values()) > BUDGET[room] for room, files in counted.items()))


if __name__ == "__main__":
    main()
