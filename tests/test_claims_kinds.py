"""Claims of a cause or an absence hold only if they are listed with a basis, since numbers alone cannot decide them."""

import re

import pandas as pd

from boundpaper.store.reader import read
from conftest import ROOT

# Words that mark a statement of a cause or of an absence.
CAUSE = re.compile(r"\b(because|due to|caus\w+|for want of|explain\w*|driv\w+|detects?|makes?|lets|enabl\w*)\b", re.I)
ABSENT = re.compile(r"\b(preserv\w*|unaffect\w*|independent|unchanged|not|none)\b", re.I)
MAYBE = re.compile(r"\b(candidate|may|might|could|likely|possibl\w+)\b", re.I)
HOLDING = {
    "c000_f1_not_cause": "the added layers do not run on text", "c000_f2_not_few": "counted layer by layer",
    "c000_f3_not_depth": "two profiles, as printed", "c000_f3_smaller_llama": "two profiles, as printed",
    "c000_extremes_sensitivity": "two extremes, as printed", "c002_overlap_absent": "whether a score is published",
    "c002_gap_published": "whether a figure holds a score",
    "c002_onset_correlation_kept": "moves by less than in pre-training",
    "c004_long_context_open": "what the report does not ask", "c004_ans_rope": "a count of answers",
    "c004_ctx_rope_collapses": "a count of answers", "c004_rope_within_errors": "a count of answers",
    "c004_fig13_rope_explodes": "an intervention with its control", "c004_no_valid_answers": "what the script stores",
    "c004_sink_rates_high": "rates of both models", "c004_not_uniform": "layers, as printed",
}  # fmt: skip
"""Claims with such words that hold, and the basis of each. Judge a claim by hand before you add it."""


def ledger() -> pd.DataFrame:
    table = read(ROOT, "claims")
    return table[(table["kind"] == "statement") & (table["source"] != "thesis")]


def test_causes_and_absences_hold_only_when_listed_with_their_basis() -> None:
    true_claims = ledger()[ledger()["verdict"].isin(["holds", "holds after rounding"])]
    worded = {
        claim
        for claim, statement in zip(true_claims["claim"], true_claims["statement"], strict=True)
        if CAUSE.search(statement) or ABSENT.search(statement)
    }
    assert worded == set(HOLDING)


def test_failing_candidates_are_no_headline_claims() -> None:
    table = ledger()
    named = table[[bool(MAYBE.search(statement)) for statement in table["statement"]]]
    failing = named[(named["severity"] == "headline") & named["verdict"].isin(["not supported", "contradicted"])]
    assert failing["claim"].tolist() == []
    assert {"c000_hypotheses_frequency"} <= set(named["claim"])
