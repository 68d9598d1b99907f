"""Write small papers whose files and commands the soak tests damage and kill."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^(?:Into|Append to|Replace) `([\w./-]+)`:\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org")
CAPTURE = (*("--context", "64", "--heads", "4", "--rate", "4", "--buckets", "4"), "--device", "cpu")
LINES = {
    "predictions.jsonl": lambda number: {
        "id": f"t3.1-english-8k-{number}",
        "mode": "nonthinking",
        "prediction": "the hall",
    },
    "samples.jsonl": lambda number: {
        "id": f"t3.1-english-8k-{number}",
        "context": "The lamp is in the hall.",
        "language": "English",
        "token_length": "8k",
        "secondary_task": "T3.1 Targeted Subset Cluster Identification",
        "question_nonthinking": "Where?",
        "question_thinking": "Where? Think.",
        "answer": ["the hall", "3.5"],
    },
    "texts.jsonl": lambda number: {"id": number, "text": "The lamp is in the hall, and nobody has the key. " * 20},
}
CLAIM = '''"""What the report on lamps says."""

from boundpaper.claims import Verdict, judge


def lamps_three_lamps() -> Verdict:
    """Three lamps were bought.

    Source: lamps, Heights.
    """
    return judge(True, "The bill has 3 lamps.", n=3)
'''
COPY = """# Lamps

Three lamps were bought. A bean is 18.4 cm high after two weeks.

| lamp | height |
|---|---|
| sun | 18.4 |
"""
BUILD = "from boundpaper.__main__ import main\n\nif __name__ == '__main__':\n    main()\n"
STOPPED = """import runpy
import sys

sys.path.insert(0, "")
from keyquery.models.captures import capture

capture.finish = lambda *arguments: sys.exit()
sys.argv = ["build.py", *sys.argv[1:]]
runpy.run_path("build.py", run_name="__main__")
"""
RECIPE = """title: One model
experiments: [vocabulary]
documents: 2
models:
  - {name: own, id: own-model}
"""


def write_files(text: str, folder: Path, *, replace: tuple[str, ...] = ()) -> None:
    """Write the files that a document shows in blocks of code; append to an existing file unless it is in `replace`."""
    for path, content in BLOCK.findall(text):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w" if path in replace else "a", encoding="utf-8") as stream:
            stream.write(content)


def paper(project: Path, folder: Path) -> Path:
    """Write the paper of `docs/own-paper.md` and the experiment of `docs/extending.md` into `folder`; return it."""
    sys.path.insert(0, str(project))
    from boundpaper.build.new_paper import new_paper

    new_paper(folder, "Beans", "May 2026")
    chapter = "paper/chapters/introduction.tex.j2"
    write_files((project / "docs/own-paper.md").read_text(encoding="utf-8"), folder, replace=(chapter,))
    recipes = re.split(r"^## ", (project / "docs/extending.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    write_files(next(recipe for recipe in recipes if recipe.startswith("An experiment\n")), folder)
    (folder / "LICENSE").write_text("All rights reserved.\n")
    (folder / "CITATION.cff").write_text((folder / "CITATION.cff").read_text().replace("Nobody yet", "Ada Gardener"))
    metadata = folder / "paper/metadata.yaml"
    metadata.write_text(metadata.read_text().replace("Nobody yet", "Ada Gardener"))
    shutil.copytree(project / "packages/keyquery/src/keyquery/tiny/tiny-rope", folder / "own-model")
    for name, line in LINES.items():
        (folder / name).write_text("".join(json.dumps(line(number)) + "\n" for number in range(4)))
    (folder / "text.txt").write_text("The lamp is in the hall, and nobody has the key.\n" * 40)
    for name, sign in (("texts.csv", ","), ("texts.tsv", "\t")):
        lines = [
            sign.join(("id", "text")),
            *(f"{number}{sign}{'The lamp is in the hall. ' * 40}" for number in range(4)),
        ]
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    (folder / "copies").mkdir()
    (folder / "analysis/claims/lamps_bought.py").write_text(CLAIM)
    with (folder / "artifacts/sources/documents.csv").open("a") as stream:
        stream.write("lamps,lamps,How Many Lamps There Are,beans2026,claims,\n")
    (folder / "copies/lamps.md").write_text(COPY)
    (folder / "recipe.yaml").write_text(RECIPE)
    shutil.copy(project / "packages/keyquery/tests/support/ruler_results.json", folder / "results.json")
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    commit(folder)
    return folder


def latex(project: Path, folder: Path) -> Path:
    """Write the LaTeX paper of `docs/adopt.md`, 36 extra rows and a `build.py` into `folder`; return it."""
    folder.mkdir()
    write_files((project / "docs/adopt.md").read_text(encoding="utf-8"), folder)
    with (folder / "results/heights.csv").open("a") as stream:
        stream.write("".join(f"plant{number},sun,0.1{number:02},0.2,{number}\n" for number in range(36)))
    (folder / "build.py").write_text(BUILD)
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    commit(folder)
    return folder


def adopted(project: Path, folder: Path) -> Path:
    """Write the paper of `latex`, initialise it, bind a number and change the number's data; return the folder."""
    latex(project, folder)
    subprocess.run([sys.executable, "build.py", "init"], cwd=folder, check=True, capture_output=True)
    text, data = folder / "main.tex", folder / "results/heights.csv"
    text.write_text(text.read_text().replace("the pea 0.7212", r"the pea \val{heights/pea,sun/gain:.4f}"))
    commit(folder)
    data.write_text(data.read_text().replace("0.7212", "0.7213"))
    return folder


def stopped_capture(folder: Path, out: str) -> None:
    """Write to `out` the files of a capture killed after its last text: parts, and an unfinished manifest."""
    command = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *CAPTURE, "--out", out)
    subprocess.run([sys.executable, "-P", "-c", STOPPED, *command], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    """Commit all files in a folder."""
    for command in (("add", "-A"), ("commit", "-qm", "All")):
        subprocess.run([*GIT, *command], cwd=folder, check=True)


TINY = {
    "analysis/population/recipe.py": (
        (r"first: Stage = Stage\(steps=2000", "first: Stage = Stage(steps=30"),
        (r"first_more: Stage = Stage\(steps=500", "first_more: Stage = Stage(steps=6"),
        (r"short_steps=300\)", "short_steps=3)"), (r"average=100", "average=3"),
        (r"layers: int = 5", "layers: int = 1"), (r"width: int = 128", "width: int = 32"),
        (r"heads: int = 4", "heads: int = 1"), (r"inner: int = 256", "inner: int = 32"),
        (r"held_out: int = 200", "held_out: int = 8"), (r"(every|save): int = 100", r"\1: int = 5"),
    )
}  # fmt: skip
"""By file: pairs of a pattern and its replacement, with which training the population takes seconds."""


def thesis(project: Path, folder: Path) -> Path:
    """Copy the thesis without outputs to `folder`, with a recipe of small models that takes seconds; return it."""
    ignored = shutil.ignore_patterns("out", ".*", "golden", "__pycache__")
    shutil.copytree(project, folder, ignore=ignored)
    for name, changes in TINY.items():
        path = folder / name
        text = path.read_text()
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text)
            if not count:
                raise RuntimeError(f"{name}: nothing matches {pattern!r}")
        path.write_text(text)
    for path in (folder / "artifacts/measurements").glob("population_*/*"):
        path.unlink()
    return folder
