"""Length of the sentences in the thesis, and share of sentences with more than two numbers.

    python tests/readability.py [REVISION]

Each line of the chapters' prose is a sentence. An expression that prints a value counts as one word and one number;
marks, citations and labels do not count. With a git REVISION, the table has columns for its chapters too.
"""

import re
import subprocess
import sys
from pathlib import Path

from boundpaper.paper.visible import CITE, SILENT, without_commands
from chapter_lines import passages

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "paper/chapters"
VALUE = re.compile(r"<<(?:(?!<<).)*?>>")
SILENT_TAG = re.compile(r"<<\s*(?:mark|table|figure|supplement)\(.*?>>|<%.*?%>")
NUMBER = re.compile(r"\ue000|\$[^$]*\d[^$]*\$|\d[\d.,]*")
WORD = re.compile(r"[\w\ue000$][\w\ue000$'./-]*")


def sentence_counts(text: str) -> list[tuple[int, int]]:
    """Return the number of words and of numbers in each sentence of a chapter's template."""
    counts = []
    for passage in passages(text):
        for line in passage.lines:
            plain = CITE.sub(" ", VALUE.sub("\ue000", SILENT_TAG.sub("", line)))
            plain = without_commands(plain, SILENT)
            if words := len(WORD.findall(plain)):
                counts.append((words, len(NUMBER.findall(plain))))
    return counts


def chapters(revision: str) -> dict[str, list[tuple[int, int]]]:
    """Return the counts of `sentence_counts` by chapter, for the working tree (empty revision) or a git revision."""
    if not revision:
        texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).glob("*.tex.j2")}
    else:
        git = ("git", "-C", str(ROOT))
        tree = subprocess.run((*git, "ls-tree", "--name-only", revision, f"{FOLDER}/"), capture_output=True, text=True)
        if tree.returncode:
            sys.exit(f"{revision}: git knows no such revision; give a commit, a tag or a branch")
        paths = [path for path in tree.stdout.split() if path.endswith(".tex.j2")]
        files = {
            path: subprocess.run((*git, "show", f"{revision}:{path}"), capture_output=True, text=True) for path in paths
        }
        texts = {Path(path).name: result.stdout for path, result in files.items()}
    by_chapter = {name.removesuffix(".tex.j2"): sentence_counts(text) for name, text in sorted(texts.items())}
    return {**by_chapter, "all": [sentence for sentences in by_chapter.values() for sentence in sentences]}


def cells(sentences: list[tuple[int, int]] | None) -> str:
    """Return the Markdown cells of a chapter: sentences, words per sentence, share with more than two numbers."""
    if not sentences:
        return "| | | |"
    words, over_two = sum(words for words, _ in sentences), sum(numbers > 2 for _, numbers in sentences)
    return f"| {len(sentences)} | {words / len(sentences):.1f} | {100 * over_two / len(sentences):.0f} % |"


def main() -> None:
    """Print a Markdown table."""
    revisions = [*sys.argv[1:2], ""]
    measures = [chapters(revision) for revision in revisions]
    head = " | ".join(
        f"sentences{suffix} | words each | over two numbers"
        for suffix in [f" at {revision}" for revision in revisions[:-1]] + [""]
    )
    print(f"| chapter | {head} |\n|:--|" + "--:|--:|--:|" * len(measures))
    for name in measures[-1]:
        print(f"| {name} " + "".join(cells(chapter.get(name)).removesuffix("|") for chapter in measures) + "|")


if __name__ == "__main__":
    main()
