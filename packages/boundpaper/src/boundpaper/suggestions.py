"""Write the part of an error message that suggests the known names most similar to an unknown name."""

from collections.abc import Iterable

SHOWN = 6  # most names that a message lists


def suggest(name: object, names: Iterable[object]) -> str:
    """Return `did you mean ...? ` with up to three similar names; empty if none is similar."""
    similar = similar_names(name, names)
    return f"did you mean {', '.join(similar)}? " if similar else ""


def or_known(name: object, known: Iterable[object]) -> str:
    """Return the end of a message: the most similar known name, or the list of known names if none is similar."""
    names = list(map(str, known))
    if similar := similar_names(name, names, most=1, cutoff=0.5):
        return f"; did you mean {similar[0]!r}?"
    listing = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return f"; known: {listing}" if names else ""


def similar_names(name: object, names: Iterable[object], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return at most `most` names whose similarity to a name (0 to 1) is at least `cutoff`, the most similar first."""
    import difflib  # imported here, since the import takes 7 ms and most builds suggest nothing

    return difflib.get_close_matches(str(name), sorted(set(map(str, names))), n=most, cutoff=cutoff)
