"""Check that two clones give the same bytes despite different folders, times, locales, time zones and hash seeds.

    python benchmarks/repeatable.py [--revision HEAD] [--folder DIR]

The script clones this project twice at a revision, builds the thesis in each clone, and the site if the revision has
this command, and compares all published files of `out/`. It exits with 1 if a file differs.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ODD = {
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "77",
    "SOURCE_DATE_EPOCH": "1",
}
PLAIN = {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
PUBLISHED = ("thesis.pdf", "tables/*.tex", "figures/*.pdf", "chapters/*.tex", "bundle/*.tar.gz", "site/**/*")


def build_hashes(revision: str, folder: Path, settings: dict[str, str], commands: list[list[str]]) -> dict[str, str]:
    """Clone the project to `folder` and run the commands there; return the hash of each published file."""
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, folder], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", revision], cwd=folder, check=True)
    for command in commands:
        line = [sys.executable, "build.py", *command]
        env = {**os.environ, **settings}
        done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{folder}: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    paths = sorted(path for pattern in PUBLISHED for path in (folder / "out").glob(pattern) if path.is_file())
    return {
        path.relative_to(folder / "out").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }


def main() -> None:
    """Build twice and compare; exit with 1 if a file differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--folder", type=Path, help="Folder to work in [a temporary folder].")
    options = parser.parse_args()
    revision = subprocess.run(
        ["git", "rev-parse", f"{options.revision}^{{commit}}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    listed = subprocess.run(
        [sys.executable, "build.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    commands = [["bundle"], *([["site"]] if "\n  site " in listed.stdout else [])]
    with tempfile.TemporaryDirectory() as scratch:
        base = options.folder or Path(scratch)
        first = build_hashes(revision, base / "one", PLAIN, commands)
        second = build_hashes(revision, base / "some where else" / "two", ODD, commands)
    differing = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(first)} files of {revision[:12]}, {len(differing)} differ; thesis.pdf {first['thesis.pdf'][:16]}")
    raise SystemExit(1 if differing else 0)


if __name__ == "__main__":
    main()
