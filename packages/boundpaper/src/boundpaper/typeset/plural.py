"""Write counts in messages: `1 fault`, `2 faults`."""


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, with an s after the noun unless the number is 1.

    >>> counted(1, "fault"), counted(0, "fault")
    ('1 fault', '0 faults')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
