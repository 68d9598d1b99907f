"""Extract the answer from a model's output: the text after the last mark, in lines, lower-cased, spaces collapsed."""

MARKS = ("[Answer]", "[答案]")


def area(text: str) -> str:
    """Return the text after the last `[Answer]`, else after the last `[答案]`; without either, the whole text.

    The English mark takes precedence if both occur, as in the benchmark's own scoring.
    """
    for mark in MARKS:
        if mark in text:
            return text.rpartition(mark)[2].strip()
    return text.strip()


def squeezed(text: str) -> str:
    """Lower-case a text and collapse white space to single blanks, with none at the ends."""
    return " ".join(text.lower().split())


def answer_lines(text: str) -> list[str]:
    """Return the answer's lines with collapsed spaces; empty lines inside count, as in the benchmark's own scoring."""
    return [squeezed(line) for line in area(text).split("\n")]
