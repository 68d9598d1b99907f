"""Write a generated data set with the columns of LongBench Pro, for trying the commands without a download.

    python -m keyquery.scores.lbp.smoke FOLDER

writes `FOLDER/smoke-set.jsonl`, identical in every run: one sample for each of the 25 tasks, 2 languages and 6
lengths. A context lists where things are kept; the things are words that the null model's tokenizer knows. A context
has `LENGTH / 256` words, so lengths are in the right proportions, but much shorter than their labels.
"""

import json
import sys
from pathlib import Path

import numpy as np

from boundpaper.errors import ThesisError
from boundpaper.store.files import write
from keyquery.scores.lbp.tasks import EXACT, F1, LANGUAGES, LENGTHS, NDCG, PAIRS, PRESENT, SUMMARY, TASKS

SCALE = 256  # nominal tokens per word
WORD_COUNT = 400  # number of the null model's most frequent words that are used
LINE_COUNT = 4  # number of things in an answer with several lines

LINE = {"English": "thing {} is kept on shelf {} .", "Chinese": "物品 {} 放 在 架子 {} 上 。"}
QUESTIONS = {
    "English": {
        NDCG: "Which things are named first? Four of them, the first one on top.",
        PAIRS: "In which order are the first four things named?",
        EXACT: "Which thing is named first?",
        F1: "Which are the first four things?",
        PRESENT: "Name the first four things.",
        SUMMARY: "Say in one sentence where the first thing is kept.",
    },
    "Chinese": {
        NDCG: "哪些 物品 最先 出现 ？ 写出 四个 ， 最先 的 在 上 。",
        PAIRS: "前 四个 物品 以 什么 顺序 出现 ？",
        EXACT: "最先 出现 的 是 哪个 物品 ？",
        F1: "前 四个 物品 是 哪些 ？",
        PRESENT: "写出 前 四个 物品 。",
        SUMMARY: "用 一句 话 说明 第一个 物品 放 在 哪里 。",
    },
}
FORM = {
    "English": ("Write [Answer] and below it the answer, one thing a line.", "Think first, step by step."),
    "Chinese": ("先 写 [答案] ， 答案 写 在 下面 ， 每行 一个 。", "先 一步 一步 思考 。"),
}


def make_set(folder: Path) -> Path:
    """Write the data set and return its path."""
    generator = np.random.default_rng(0)
    rows = []
    for task, kind in TASKS.items():
        for language in LANGUAGES:
            for length in LENGTHS:
                lines, answer = _sample(generator, language, kind, 1024 * int(length.removesuffix("k")) // SCALE)
                question, form = QUESTIONS[language][kind], FORM[language]
                row = {
                    **{"id": f"{task}-{language}-{length}".lower(), "context": "\n".join(lines), "language": language},
                    **{"token_length": length, "primary_task": task.partition(".")[0]},
                    **{"secondary_task": f"{task} {kind}", "contextual_requirement": "Partial"},
                    "question_nonthinking": f"{question}\n{form[0]}",
                    "question_thinking": f"{question}\n{form[1]} {form[0]}",
                    **{"answer": answer, "difficulty": "Easy"},
                }
                rows.append(json.dumps(row, ensure_ascii=False))
    path = folder / "smoke-set.jsonl"
    write(path, ("\n".join(rows) + "\n").encode())
    return path


def _sample(generator: np.random.Generator, language: str, kind: str, words: int) -> tuple[list[str], list[str]]:
    """Return the lines of a context and the gold answer."""
    pattern = LINE[language]
    count = max(LINE_COUNT, words // len(pattern.split()))
    names = [f"w{number + 1}" for number in generator.permutation(WORD_COUNT)[:count]]
    lines = [pattern.format(name, shelf) for name, shelf in zip(names, generator.integers(1, 9, count), strict=True)]
    if kind == SUMMARY:
        return lines, [lines[0]]
    return lines, names[:1] if kind == EXACT else names[:LINE_COUNT]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m keyquery.scores.lbp.smoke FOLDER")
    try:
        print(make_set(Path(sys.argv[1])))
    except ThesisError as error:
        sys.exit(f"error: {error}")
