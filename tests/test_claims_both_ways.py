"""Every claim changes its verdict or reason with its input, and the harness finds invented claims that do not."""

import pandas as pd
import pytest

from boundpaper.claims import Verdict, compare, judge, quote, untestable
from boundpaper.claims.mutate import claims, flip_sign, main, mutate_claim, mutations, read_inputs, shift_numbers
from boundpaper.store.frames import parsed
from conftest import ROOT

DOCUMENTS = ("c000", "c001", "c002", "c003", "c004", "thesis")
TRIES = 150
# Claims that read no artifact, since no printed or published value could decide them.
SILENT = {"c000_conclusion_mechanism", "c001_distant_keys_lose", "c001_exact_scores", "c004_con_compensates"}
# Invented results of a planned test that is not yet measured. Claims on the plan must react to them.
MEASURED = {"difference": 0.3, "rho": 0.3, "low": 0.1, "high": 0.5, "p": 0.002, "p_least": 0.001, "p_holm": 0.01}


def measured(frame):
    """Return `frame`, with `MEASURED` values if it is a result of planned tests of which none is measured yet."""
    if "p_least" not in frame.columns or frame["p_least"].notna().any():
        return frame
    counts = {name: 9 for name in ("seeds", "models", "heads") if name in frame.columns}
    return frame.assign(**counts, **{name: value for name, value in MEASURED.items() if name in frame.columns})


def table(**columns):
    return parsed(pd.DataFrame(columns)) if "printed" in columns else pd.DataFrame(columns)


# --- the harness


def test_claim_that_judges_its_input_changes_verdict():
    def honest(scores):
        """The verdict changes with the input."""
        return judge(bool(scores["value"].max() > 2), f"The largest is {scores['value'].max():g}.")

    (outcome,) = mutate_claim("c_honest", honest, {"scores": table(value=[1.0, 3.0])}).outcomes.values()
    assert outcome.changed_by
    assert outcome.reworded_by
    assert not outcome.unexplained


def test_a_claim_with_a_typed_verdict_is_found():
    def typed(scores):
        """The verdict never changes, but the reason does."""
        return Verdict(verdict="holds", reason=f"The largest is {scores['value'].max():g}.")

    def deaf(scores):
        """Neither verdict nor reason changes."""
        return judge(len(scores) >= 0, "None of them has a window.")

    frames = {"scores": table(value=[1.0, 3.0])}
    (outcome,) = mutate_claim("c_typed", typed, frames).outcomes.values()
    assert (outcome.changed_by, bool(outcome.reworded_by)) == ("", True)
    tally = mutate_claim("c_deaf", deaf, frames, words=True)
    assert not tally.any_changed
    assert tally.tried > 10


def test_reason_that_stays_when_the_verdict_changes_is_found():
    def silent(scores):
        """The verdict changes, but not the reason."""
        return judge(bool(scores["value"].max() > 2), "None of them has a window.")

    (outcome,) = mutate_claim("c_silent", silent, {"scores": table(value=[1.0, 3.0])}).outcomes.values()
    assert outcome.changed_by
    assert outcome.unexplained == outcome.changed_by


@pytest.mark.parametrize(("reason", "mute"), [("None is above it.", True), ("Of one.", False)])
def test_false_none_in_a_reason_is_found_despite_a_number_beside_it(reason, mute):
    def half(scores):
        """The verdict and the number change, but not the reason."""
        most = scores["value"].max()
        return judge(bool(most > 2), reason, recomputed=f"{most:g}")

    (outcome,) = mutate_claim("c_half", half, {"scores": table(value=[1.0, 3.0])}).outcomes.values()
    assert outcome.changed_by
    assert bool(outcome.unexplained) == mute


def test_text_that_cannot_become_a_number_is_not_flipped():
    frame = table(key=["p", "q"], printed=["< 10⁻⁴⁸", "2"])
    kinds = [mutation for mutation, _ in mutations({"frame": frame})]
    assert "frame: row 3, printed flipped" in kinds
    assert "frame: row 2, printed flipped" not in kinds


def test_estimates_are_made_significant_and_insignificant_consistently():
    frame = table(comparison=["a"], estimate=[2.0], ci_low=[1.0], ci_high=[3.0], p_value=[0.01], p_text=["small"])
    prefix = "t: every estimate made "
    changed = {mutation.removeprefix(prefix): frames["t"] for mutation, frames in mutations({"t": frame})}
    assert (changed["sure"]["p_value"] < 0.001).all()
    assert (changed["unsure"]["p_value"] > 0.5).all()
    assert tuple(changed["unsure"].loc[0, ["estimate", "ci_low", "ci_high"]]) == (2.0, -4.0, 8.0)
    assert list(changed["sure"]["p_text"]) == ["small"]


def test_contradicted_claim_changes_when_its_number_is_corrected():
    def wrong(stated):
        """The printed value is 10, the true one 12.34."""
        return compare(quote(stated, key="x"), 12.34, reason="So it is.")

    (outcome,) = mutate_claim("c_wrong", wrong, {"stated": table(key=["x"], printed=["10.0"])}).outcomes.values()
    assert outcome.verdict == "contradicted"
    assert outcome.changed_by == "stated: reported values replaced by recomputed values"


def test_each_verdict_of_a_claim_must_change():
    def halves(scores):
        """One of two verdicts is hard-coded."""
        return [
            judge(bool(scores["value"].iloc[0] > 0), f"{scores['value'].iloc[0]:g}", key="a"),
            untestable("a run would tell", key="b"),
        ]

    tally = mutate_claim("c_halves", halves, {"scores": table(value=[1.0, 3.0])})
    assert not tally.all_changed
    assert {key: bool(outcome.changed_by) for key, outcome in tally.outcomes.items()} == {"a": True, "b": False}


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
    kinds = [mutation for mutation, _ in mutations({"frame": frame})]
    pd.testing.assert_frame_equal(frame, before)
    for part in (
        "printed moved up",
        "printed flipped",
        "every estimate made nothing",
        "flag negated",
        "row 3 left out",
    ):
        assert any(part in mutation for mutation in kinds), part


@pytest.mark.parametrize(
    ("text", "up", "negated"),
    [("0.186", "0.248", "-0.186"), ("−31%", "−41%", "31%"), ("1,500", "2,000", "-1,500"), ("0.00", "0.05", "-0.00")],
)
def test_printed_number_is_moved_beyond_its_precision_and_negated(text, up, negated):
    assert shift_numbers(text, 1 / 3) == up
    assert flip_sign(text) == negated


def test_command_lists_claims_that_never_change(capsys):
    assert main(["c000_conclusion_mechanism"]) == 1
    assert "c000_conclusion_mechanism: not testable, never turns, nor is reworded" in capsys.readouterr().out


# --- the claims


def test_measured_plan_is_left_unchanged():
    frame = table(item=["a", "b"], p_least=[None, 0.5], rho=[None, 0.2])
    assert measured(frame) is frame
    planned = measured(frame.assign(p_least=None))
    assert list(planned["rho"]) == [0.3, 0.3]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_changes_with_some_input(document):
    """Each claim's verdict or reason changes with some input, and no verdict changes while its reason stays."""
    actual = {name: claim for name, claim in claims(ROOT / "analysis/claims").items() if name.startswith(document)}
    assert actual
    tallies = {}
    for name, claim in actual.items():
        frames = {each: measured(frame) for each, frame in read_inputs(ROOT, claim).items()}
        tallies[name] = mutate_claim(name, claim, frames, TRIES, words=True)
    silent = {name: tally for name, tally in tallies.items() if not tally.any_changed}
    assert sorted(silent) == [name for name in sorted(SILENT) if name.startswith(document)]
    assert all(not read_inputs(ROOT, actual[name]) for name in silent)
    assert {outcome.verdict for tally in silent.values() for outcome in tally.outcomes.values()} <= {"not testable"}
    mute = {outcome.claim: outcome.unexplained for tally in tallies.values() for outcome in tally.outcomes.values()}
    assert {claim: mutation for claim, mutation in mute.items() if mutation} == {}
