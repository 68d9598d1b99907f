"""Repeats: a number printed again gets the verdict of its origin; a misprint keeps its own verdict."""

from dataclasses import asdict

import pandas as pd
import pytest

from boundpaper.claims import Verdict
from boundpaper.claims.copies import Copies, Repeats
from boundpaper.claims.repeats import Repeat, mark_repeat, with_origins
from boundpaper.claims.terms import Artifact
from boundpaper.errors import SpecError
from boundpaper.store.frames import parsed


def row(claim, verdict, repeats="", **more):
    if verdict == "not significant":
        more = {"estimate": 1.0, "sign": 1, "ci_low": -1.0, "ci_high": 3.0, **more}
    judged = Verdict(verdict=verdict, reason=f"Reason of {claim}.", **more)
    return {**asdict(mark_repeat(judged, *repeats.split())), "claim": claim}


def judged_rows(*rows):
    return {row["claim"]: row for row in with_origins(rows)}


@pytest.mark.parametrize(
    ("verdict", "origin", "expected"),
    [
        ("holds", "contradicted", "contradicted"),
        ("holds", "not supported", "not supported"),
        ("holds", "not testable", "not testable"),
        ("holds", "holds after rounding", "holds after rounding"),
        ("holds after rounding", "holds", "holds after rounding"),
        ("holds after rounding", "not significant", "not significant"),
        ("contradicted", "holds", "contradicted"),  # a misprint stays contradicted, whatever its origin
        ("not supported", "contradicted", "not supported"),
    ],
)
def test_repeat_that_matches_its_origin_inherits_its_verdict(verdict, origin, expected):
    judged = judged_rows(row("a", verdict, "b"), row("b", origin))
    assert judged["a"]["verdict"] == expected
    assert judged["b"]["verdict"] == origin


def test_inherited_verdict_names_its_origin_and_keeps_its_sources():
    judged = judged_rows(
        row("again", "holds", "first"), row("first", "contradicted", n=7, p_value=0.2, recomputed="45")
    )
    assert judged["again"]["reason"] == "Repeats first: contradicted. Reason of first."
    assert (judged["again"]["n"], judged["again"]["p_value"], judged["again"]["recomputed"]) == (7, 0.2, "45")
    assert "repeats" not in judged["again"]


def test_repeat_of_several_origins_inherits_the_worst_verdict_through_chains():
    rows = [row("a", "holds", "b c"), row("b", "holds after rounding"), row("c", "holds", "d")]
    judged = judged_rows(*rows, row("d", "contradicted"))
    assert judged["b"]["verdict"] == "holds after rounding"
    assert {judged[name]["verdict"] for name in "acd"} == {"contradicted"}
    assert list(judged) == ["a", "b", "c", "d"]


def test_unknown_origin_suggests_the_nearest_and_a_circular_repeat_is_refused():
    with pytest.raises(SpecError, match=r"repeats 'c004_later', which is not a row .* did you mean c004_later_layers"):
        with_origins([row("x", "holds", "c004_later"), row("c004_later_layers", "holds")])
    with pytest.raises(SpecError, match="in a circle: a -> b -> a"):
        with_origins([row("a", "holds", "b"), row("b", "holds", "a")])


def test_verdict_without_origin_is_returned_unchanged():
    first = Verdict(verdict="holds", reason="so")
    assert mark_repeat(first) is first
    assert isinstance(mark_repeat(first, "b"), Repeat)


STATED, TABLE = Artifact("stated"), Artifact("table", "the table")


def printed_frame(*cells, **columns):
    return parsed(pd.DataFrame({**columns, "printed": list(cells)}), words=True)


def test_restated_and_copied_claims_keep_their_origin():
    stated = printed_frame("60%", statement=["fall"], quantity=["Fall"], positional=[""])
    table = printed_frame("60%", layers=["2-31"])
    (verdict,) = Repeats(STATED, {"fall": TABLE(layers="2-31").by("c.x")}).verdicts({"stated": stated, "table": table})
    assert isinstance(verdict, Repeat)
    assert (verdict.verdict, verdict.repeats) == ("holds", "c.x")
    (verdict,) = Copies(TABLE, TABLE, ("layers",), judged={"2-31": "c.y"}).verdicts({"table": table})
    assert isinstance(verdict, Repeat)
    assert verdict.repeats == "c.y"
    (verdict,) = Copies(TABLE, TABLE, ("layers",)).verdicts({"table": table})
    assert not isinstance(verdict, Repeat)


@pytest.mark.parametrize(
    ("text", "verdict"), [("30-80%", "holds"), ("30-90%", "contradicted"), ("30%", "contradicted")]
)
def test_a_range_is_repeated_by_the_same_range(text, verdict):
    stated = printed_frame(text, statement=["within"], quantity=["Accuracy"], positional=["DroPE"])
    table = printed_frame("30-80%", aspect=["within"])
    (judged,) = Repeats(STATED, {"within": TABLE(aspect="within")}).verdicts({"stated": stated, "table": table})
    assert judged.verdict == verdict


def test_a_number_in_words_is_compared_as_one():
    stated = printed_frame("zero", statement=["lost"], quantity=["Loss"], positional=[""], as_number=[0.0])
    for text, verdict in (("0.0%", "holds"), ("8.2%", "contradicted")):
        frames = {"stated": stated, "table": printed_frame(text, task=["passkey"])}
        (judged,) = Repeats(STATED, {"lost": TABLE(task="passkey")}, words=True).verdicts(frames)
        assert judged.verdict == verdict
