"""Claims on contradictions between a document's statements in words."""

import pandas as pd

from boundpaper.claims import Verdict, claim, judge

THESIS = "thesis"


@claim("thesis, The claims")
def thesis_worded_conflicts(said_twice: pd.DataFrame) -> Verdict:
    """Documents describe some things differently in two sections, in ways that cannot both be true."""
    word_counts = said_twice[said_twice["document"] != THESIS].groupby(["document", "about"])["word"].nunique()
    counts = (word_counts > 1).groupby("document").sum()
    return judge(
        bool(counts.sum()),
        f"{counts.sum()} of the {len(word_counts)} that are declared, "
        + ", ".join(f"{count} in document {document}" for document, count in counts.items())
        + "; which statements are of one thing was decided while reading.",
        recomputed=str(counts.sum()),
        n=len(word_counts),
    )


@claim("thesis, The claims")
def thesis_worded_own(said_twice: pd.DataFrame) -> Verdict:
    """All sections of this thesis that are declared to describe one subject describe it in the same way."""
    word_counts = said_twice[said_twice["document"] == THESIS].groupby("about")["word"].nunique()
    conflicting = word_counts.index[word_counts > 1]
    return judge(
        conflicting.empty,
        f"{len(word_counts)} things in {int((said_twice['document'] == THESIS).sum())} statements"
        + (f"; said in two ways: {', '.join(conflicting)}." if len(conflicting) else ", each with one word."),
        recomputed=str(len(conflicting)),
        n=len(word_counts),
    )
