"""Suggest the nearest known name, as a sentence in a message or as its end."""

from collections.abc import Iterable

SHOWN = 6  # most names that a message lists


def suggest(name: object, names: Iterable[object]) -> str:
    """Return `did you mean ...? ` with the closest of `names`, or an empty text."""
    close = similar_names(name, names)
    return f"did you mean {', '.join(close)}? " if close else ""


def or_known(name: object, known: Iterable[object]) -> str:
    """Return the end of a message: the closest known name, or the list of names if none is close."""
    names = [str(item) for item in known]
    close = similar_names(name, names, most=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return f"; known: {shown}" if names else ""


def similar_names(name: object, names: Iterable[object], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names most similar to a given name, nearest first; with a `cutoff` of 0, there is always one."""
    import difflib  # imported here, since it takes 7 ms that most builds do not need

    return difflib.get_close_matches(str(name), sorted(set(map(str, names))), n=most, cutoff=cutoff)
