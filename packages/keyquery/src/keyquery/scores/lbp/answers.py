"""Extract the answer from a model's output: the text after the last mark, in lines, lower-cased, spaces collapsed."""

MARKS = ("[Answer]", "[答案]")


def area(text: str) -> str:
    """The text after the last `[Answer]`, or if there is none after the last `[答案]`; without either, the whole text.

    The English mark goes first when both occur, as in the benchmark's own scoring.
    """
    for mark in MARKS:
        if mark in text:
            return text.rpartition(mark)[2].strip()
    return text.strip()


def squeezed(text: str) -> str:
    """Lower-case a text and collapse white space to single blanks, with none at the ends."""
    return " ".join(text.lower().split())


def lines(text: str) -> list[str]:
    """Lines of the answer with collapsed spaces; empty lines inside count, as in the benchmark's own scoring."""
    return [squeezed(line) for line in area(text).split("\n")]
