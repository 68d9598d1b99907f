"""Suggest the nearest of known names, as a sentence in a message or as its end."""

from collections.abc import Iterable

SHOWN = 6  # names that a message lists


def suggest(name: object, names: Iterable[object]) -> str:
    """`did you mean ...? ` for the closest of `names`, or nothing."""
    close = similar_names(name, names)
    return f"did you mean {', '.join(close)}? " if close else ""


def or_known(name: object, known: Iterable[object]) -> str:
    """End of a message: the closest known name, or the list of names if none is close."""
    names = [str(item) for item in known]
    close = similar_names(name, names, most=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return f"; known: {shown}" if names else ""


def similar_names(name: object, names: Iterable[object], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Names most similar to a given one, nearest first; a `cutoff` of 0 always finds some."""
    import difflib  # 7 ms, which a build with nothing to do would wait for

    return difflib.get_close_matches(str(name), sorted(set(map(str, names))), n=most, cutoff=cutoff)
