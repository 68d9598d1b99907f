"""Where the lines of the house are: Python of each room, its files, and the largest of them.

    python benchmarks/lines.py

Counts what git tracks, blank lines and comments included. `docs/architecture.md` has the table, and what each room
buys.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEEP = ("analysis", "artifacts")  # rooms whose folders are counted one by one


def rooms(root: Path) -> dict[str, list[str]]:
    """Tracked Python files by room: a folder of `analysis` or `artifacts`, else one of the top level."""
    listed = subprocess.run(("git", "ls-files", "*.py"), cwd=root, capture_output=True, text=True, check=True).stdout
    by_room: dict[str, list[str]] = defaultdict(list)
    for path in sorted(listed.splitlines()):
        parts = path.split("/")
        depth = 2 if parts[0] in DEEP and len(parts) > 2 else 1
        by_room["/".join(parts[: min(depth, len(parts) - 1)]) or "the top"].append(path)
    return by_room


def main() -> None:
    """Print a Markdown table, the largest room first."""
    sizes = {
        room: {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in files}
        for room, files in rooms(ROOT).items()
    }
    print("| room | lines | files | median | the largest | lines |")
    print("|:--|--:|--:|--:|:--|--:|")
    for room, files in sorted(sizes.items(), key=lambda item: -sum(item[1].values())):
        most = max(files, key=lambda path: files[path])
        middle = sorted(files.values())[len(files) // 2]
        total = sum(files.values())
        print(f"| {room} | {total:,} | {len(files)} | {middle} | {most.rpartition('/')[2]} | {files[most]} |")
    outside = sum(sum(files.values()) for room, files in sizes.items() if room != "tests")
    print(f"\n{outside:,} lines outside of tests, {sum(sizes['tests'].values()):,} in them.")


if __name__ == "__main__":
    main()
