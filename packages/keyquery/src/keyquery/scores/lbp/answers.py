"""Extract the answer from a model's output: the lines after the last mark, in lower case, with single spaces."""

MARKS = ("[Answer]", "[答案]")


def answer_text(text: str) -> str:
    """Return the text after the last `[Answer]`, else after the last `[答案]`; without either, the whole text.

    If both occur, the English mark counts, as in the benchmark's official scoring.
    """
    for mark in MARKS:
        if mark in text:
            return text.rpartition(mark)[2].strip()
    return text.strip()


def normalised(text: str) -> str:
    """Return a text in lower case, without white space at the ends, and with single blanks inside."""
    return " ".join(text.lower().split())


def answer_lines(text: str) -> list[str]:
    """Return the normalised lines of an answer; empty lines inside it count, as in the official scoring."""
    return [normalised(line) for line in answer_text(text).split("\n")]
