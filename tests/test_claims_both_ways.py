"""Both ways: every claim answers to what it reads, and a claim that cannot is found."""

import pandas as pd
import pytest

from analysis.claims import Verdict, compare, judge, quote, untestable
from analysis.claims._mutate import both_ways, claims, flipped, inputs, main, moved, mutations
from artifacts.frames import parsed
from conftest import ROOT

DOCUMENTS = ("c000", "c001", "c002", "c003", "c004", "thesis")
TRIES = 150
# Claims whose verdict and words no change of their inputs moves, each with the reason why it may be so.
SILENT = {
    "c000_conclusion_mechanism": "not testable: reads nothing",
    "c001_distant_keys_lose": "not testable: reads nothing",
    "c001_exact_scores": "not testable: reads nothing",
    "c002_gap_content": "not testable: reads only what is said, and a measurement would decide",
    "c002_t3_reference": "not testable: reads only what is said, and a measurement would decide",
    "c004_con_compensates": "not testable: reads nothing",
    "c004_ctx_confirms": "not testable: reads only what is said, and a measurement would decide",
    "c004_fmt_cues": "not testable: reads only what is said, and a measurement would decide",
    "c004_fmt_trades": "not testable: reads only what is said, and a measurement would decide",
    "c004_massive_from_rope": "not testable: reads only what is said, and a measurement would decide",
    "c004_rank_mechanisms": "not testable: reads only what is said, and a measurement would decide",
}


def table(**columns):
    return parsed(pd.DataFrame(columns)) if "printed" in columns else pd.DataFrame(columns)


# --- the harness


def test_a_claim_that_judges_what_it_reads_turns():
    def honest(scores):
        """Turns."""
        return judge(bool(scores["value"].max() > 2), f"The largest is {scores['value'].max():g}.")

    (answer,) = both_ways("c_honest", honest, {"scores": table(value=[1.0, 3.0])}).answers.values()
    assert answer.turned
    assert answer.said
    assert not answer.unsaid


def test_a_claim_with_a_typed_verdict_is_found():
    def typed(scores):
        """Never turns, though its reason moves."""
        return Verdict(verdict="holds", reason=f"The largest is {scores['value'].max():g}.")

    def deaf(scores):
        """Neither turns nor says another word."""
        return judge(len(scores) >= 0, "None of them has a window.")

    frames = {"scores": table(value=[1.0, 3.0])}
    (answer,) = both_ways("c_typed", typed, frames).answers.values()
    assert (answer.turned, bool(answer.said)) == ("", True)
    tally = both_ways("c_deaf", deaf, frames, words=True)
    assert not tally.speaks
    assert tally.tried > 10


def test_a_reason_that_stays_when_the_verdict_turns_is_found():
    def silent(scores):
        """Turns without its reason."""
        return judge(bool(scores["value"].max() > 2), "None of them has a window.")

    (answer,) = both_ways("c_silent", silent, {"scores": table(value=[1.0, 3.0])}).answers.values()
    assert answer.turned
    assert answer.unsaid == answer.turned


def test_a_contradicted_number_turns_when_it_is_repaired():
    def wrong(stated):
        """Printed as 10, is 12.34."""
        return compare(quote(stated, key="x"), 12.34, reason="So it is.")

    (answer,) = both_ways("c_wrong", wrong, {"stated": table(key=["x"], printed=["10.0"])}).answers.values()
    assert answer.verdict == "contradicted"
    assert answer.turned == "stated: what is reported replaced by what was recomputed"


def test_each_verdict_of_a_claim_has_to_turn():
    def halves(scores):
        """One of two is typed."""
        return [
            judge(bool(scores["value"].iloc[0] > 0), f"{scores['value'].iloc[0]:g}", key="a"),
            untestable("a run would tell", key="b"),
        ]

    tally = both_ways("c_halves", halves, {"scores": table(value=[1.0, 3.0])})
    assert not tally.done
    assert {key: bool(answer.turned) for key, answer in tally.answers.items()} == {"a": True, "b": False}


def test_inputs_are_changed_in_copies_only():
    frame = table(
        key=["a", "b"],
        printed=["1.5", "-2"],
        flag=[True, False],
        ci_low=[0.0, 1.0],
        ci_high=[1.0, 2.0],
        value=[0.5, 1.5],
    )
    before = frame.copy()
    kinds = [what for what, _ in mutations({"frame": frame})]
    pd.testing.assert_frame_equal(frame, before)
    for part in (
        "printed moved up",
        "printed flipped",
        "every estimate made nothing",
        "flag negated",
        "row 3 left out",
    ):
        assert any(part in what for what in kinds), part


@pytest.mark.parametrize(
    ("text", "up", "turned"),
    [("0.186", "0.248", "-0.186"), ("−31%", "−41%", "31%"), ("1,500", "2,000", "-1,500"), ("0.00", "0.05", "-0.00")],
)
def test_a_printed_number_is_moved_beyond_its_precision_and_flipped(text, up, turned):
    assert moved(text, 1 / 3) == up
    assert flipped(text) == turned


def test_the_command_lists_what_is_stuck(capsys):
    assert main(["c000_conclusion_mechanism"]) == 1
    assert "c000_conclusion_mechanism: not testable, never turns, nor says another word" in capsys.readouterr().out


# --- the claims


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_answers_to_what_it_reads(document):
    """Verdict or words of each claim change with some input; those of which nothing does are listed with a reason."""
    found = {name: claim for name, claim in claims(ROOT / "analysis/claims").items() if name.startswith(document)}
    assert found
    silent = {
        name: tally.answers
        for name, claim in found.items()
        if not (tally := both_ways(name, claim, inputs(ROOT, claim), TRIES, words=True)).speaks
    }
    assert sorted(silent) == [name for name in sorted(SILENT) if name.startswith(document)]
    assert {answer.verdict for answers in silent.values() for answer in answers.values()} <= {"not testable"}
