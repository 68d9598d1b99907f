"""Claims: accepted verdicts, judgement of printed numbers, and errors of the builder and the ledger."""

import json

import pandas as pd
import pytest

from analysis.claims._shared import judge_joint_change, rising_profiles
from boundpaper.build.job import Job
from boundpaper.claims import VERDICTS, QuotedCell, Verdict, about, compare, judge, pick, quote, untestable
from boundpaper.claims import build as _build
from boundpaper.claims import ledger as _ledger
from boundpaper.claims.copies import Copies, Repeats
from boundpaper.claims.terms import Artifact
from boundpaper.claims.words import listed
from boundpaper.errors import DataError, SpecError
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import parsed
from boundpaper.store.paths import DOCUMENTS
from conftest import ROOT


def printed(*cells, words=False, **columns):
    """Return a source in long form with these printed cells."""
    return parsed(pd.DataFrame({**columns, "printed": list(cells)}), words=words)


# --- verdicts


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"verdict": "maybe"}, "use one of holds"), ({"kind": "guess"}, "use one of statement"),
        ({"reason": "  "}, "a reader can check"), ({"p_value": float("nan")}, "p_value is nan"),
        ({"ci_low": float("inf")}, "ci_low is inf"),
    ],
)  # fmt: skip
def test_verdict_refuses_values_that_a_ledger_cannot_hold(wrong, message):
    with pytest.raises(ValueError, match=message):
        Verdict(**{"verdict": "holds", "reason": "so it is", **wrong})


def test_every_verdict_can_be_constructed():
    effect = {"estimate": 1.0, "sign": 1, "ci_low": -1.0, "ci_high": 3.0}
    fields = {"not significant": effect}
    assert [Verdict(verdict=word, reason="why", **fields.get(word, {})).verdict for word in VERDICTS] == list(VERDICTS)


# --- picking and quoting


def test_pick_returns_the_only_matching_row_or_raises():
    frame = pd.DataFrame({"model": ["a", "a", "b"], "length": ["4k", "8k", "4k"], "value": [1, 2, 3]})
    assert pick(frame, model="b")["value"] == 3
    with pytest.raises(DataError, match=r"2 rows have model='a'"):
        pick(frame, model="a")
    with pytest.raises(DataError, match=r"0 rows have model='c'"):
        pick(frame, model="c")
    with pytest.raises(DataError, match="no column metric"):
        pick(frame, metric="x")


def test_quote_gives_text_value_and_rounding_interval():
    frame = printed("0.6449*", "97-100%", "", "flat", words=True, key=["star", "range", "empty", "word"])
    star = quote(frame, key="star")
    assert (star.printed, star.number, star.decimals) == ("0.6449*", 0.6449, 4)
    assert star.interval.low == pytest.approx(0.64485)
    bounds = quote(frame, key="range")
    assert bounds.value is None
    assert (bounds.interval.low, bounds.interval.high) == (96.5, 100.5)
    with pytest.raises(DataError, match="is not a single number"):
        _ = bounds.number
    for key in ("empty", "word"):
        with pytest.raises(DataError, match="which is not a number"):
            quote(frame, key=key)


# --- comparing


def quoted(text):
    return quote(printed(text, key=["x"]), key="x")


@pytest.mark.parametrize(
    ("text", "value", "within", "verdict"),
    [
        ("0.186", 0.1863, None, "holds"),
        ("0.186", 0.1865, None, "holds"),  # a tie may round up or down
        ("0.186", 0.1866, None, "contradicted"),
        ("0.186", 0.1866, Interval(0.1864, 0.1868), "holds after rounding"),
        ("0.186", 0.1870, Interval(0.1868, 0.1872), "contradicted"),
        ("5×", 5.23, None, "holds"),
        ("-31%", -30.6, None, "holds"),
        ("1.57e-3", 0.001574, None, "holds"),
        ("1.57e-3", 0.001576, None, "contradicted"),
        ("0.16-0.19", 0.158, None, "holds"),  # the ends of a printed range are rounded too
        ("0.16-0.19", 0.154, None, "contradicted"),
        ("0.16-0.19", 0.154, Interval(0.1535, 0.1552), "holds after rounding"),
    ],
)
def test_compare_judges_at_the_printed_precision(text, value, within, verdict):
    judged = compare(quoted(text), value, within, reason="because")
    assert judged.verdict == verdict
    assert judged.reported == text


def test_compare_shows_one_more_digit_than_printed_and_never_minus_zero():
    assert compare(quoted("0.186"), 0.18634, reason="because").recomputed == "0.1863"
    assert compare(quoted("0.00"), -0.0001, reason="because").recomputed == "0.000"
    assert compare(quoted("13"), 12.91, reason="because", places=0).recomputed == "13"


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [
        ("~97%", 97.4, "holds"),
        ("~97%", 95.6, "holds"),
        ("~97%", 95.4, "contradicted"),
        ("~35%", 36.05, "holds"),
        ("~4×", 4.12, "holds"),
        ("~4×", 3.39, "contradicted"),  # rounds to one less, but is off by more than 15 %
        ("~80%", 70.0, "holds"),
        ("~80%", 67.0, "contradicted"),
        ("~100×", 144.9, "contradicted"),
        ("~100×", 88.0, "holds"),
        ("~200×", 171.0, "holds"),
        ("~200×", 260.0, "contradicted"),
        ("~20 each", 26.8, "contradicted"),
        ("~0.5", 0.56, "holds"),
        ("~0.5", 0.58, "contradicted"),
        ("~0", 0.4, "holds"),
    ],
)
def test_about_judges_by_the_range_of_an_approximate_number(text, value, verdict):
    judged = about(quoted(text), value, reason="Here.")
    assert judged.verdict == verdict
    assert (judged.reported, judged.kind) == (text, "statement")
    assert judged.failure == ("number" if verdict == "contradicted" else "")


def test_about_never_judges_a_larger_deviation_milder():
    shares = [0.0, 0.1, 0.14, 0.16, 0.3, 0.45]
    for text in ("~20", "~40", "~100", "~300", "~0.4"):
        number = quoted(text).number
        accepted = [about(quoted(text), number * (1 + share), reason="Here.").verdict == "holds" for share in shares]
        assert accepted == [True] * 3 + [False] * 3


def test_about_holds_after_rounding_only_where_the_ranges_meet():
    assert about(quoted("~97%"), 98.6, Interval(98.4, 98.8), reason="Here.").verdict == "holds after rounding"
    assert about(quoted("~97%"), 98.6, Interval(98.55, 98.65), reason="Here.").verdict == "contradicted"


def test_about_refuses_a_range():
    with pytest.raises(DataError, match="not a single number"):
        about(quoted("~1-2%"), 1.5, reason="Here.")


def test_judge_and_untestable_return_the_requested_verdicts():
    assert judge(True, "yes").verdict == "holds"
    assert judge(False, "no").verdict == "contradicted"
    assert judge(False, "no", otherwise="not supported", recomputed=0.25).recomputed == "0.2500"
    assert untestable("a run would tell").verdict == "not testable"
    with pytest.raises(ValueError, match="use one of holds"):
        judge(False, "no", otherwise="wrong")


# --- helpers for claims on many cells


def test_restated_checks_each_value_of_the_prose_against_its_cell():
    stated = printed("0.645", "0.07", statement=["overall", "drop"], quantity=["mean", "drop"], model=["m", "m"])
    table = printed("0.6449", "0.082", model=["m", "m"], metric=["overall", "drop"])
    frames = {"stated": stated, "table": table}
    places = {name: Artifact("table", "Table 1")(model="m", metric=name) for name in ("overall", "drop")}
    verdicts = {verdict.key: verdict for verdict in Repeats(Artifact("stated"), places).verdicts(frames)}
    assert verdicts["overall"].verdict == "holds"
    assert verdicts["drop"].verdict == "contradicted"
    assert {each.kind for each in verdicts.values()} == {"cell check"}
    assert "Table 1 prints 0.082" in verdicts["drop"].reason
    with pytest.raises(DataError, match="0 rows"):
        Repeats(Artifact("stated"), {"absent": places["drop"]}).verdicts(frames)


def test_restated_names_the_model_and_judges_approximate_numbers():
    stated = printed(
        "78%",
        "80%",
        "~80%",
        statement=["good", "bad", "near"],
        positional=["RoPE", "", ""],
        quantity=["Sink rate", "Sink rate", "BOS rate"],
        qualifier=["", "", "about"],
    )
    place = Artifact("table", "the table")(layer=1)
    repeats = Repeats(Artifact("stated"), dict.fromkeys(("good", "bad", "near"), place))
    verdicts = {each.key: each for each in repeats.verdicts({"stated": stated, "table": printed("78.1%", layer=[1])})}
    assert [each.verdict for each in verdicts.values()] == ["holds", "contradicted", "holds"]
    assert {each.kind for each in verdicts.values()} == {"cell check"}
    assert verdicts["good"].statement == "The text gives sink rate of RoPE as 78%."
    assert verdicts["near"].statement == "The text gives BOS rate as ~80%."
    assert verdicts["near"].reason == "The table prints 78.1%. ~80% is read as 68 to 92."


def test_copies_compares_duplicate_cells_and_skips_empty_ones():
    copy = printed("87.2", "84.7", "", length=["32k", "64k", "128k"], model=["m"] * 3)
    original = printed("87.4", "84.70", "77.0", length=["32k", "64k", "128k"], model=["m"] * 3)
    copies = Copies(Artifact("copy"), Artifact("original", "the README"), ("model", "length"))
    verdicts = {verdict.key: verdict.verdict for verdict in copies.verdicts({"copy": copy, "original": original})}
    assert verdicts == {"m-32k": "contradicted", "m-64k": "holds"}


def test_joint_change_is_judged_by_changes_not_levels():
    def tests(estimate, p):
        rows = [("m", "pearson_levels", 0.95, 0.004, 6), ("m", "pearson_first_differences", estimate, p, 5)]
        return pd.DataFrame(rows, columns=["comparison", "test", "estimate", "p_value", "n"])

    assert judge_joint_change(tests(-0.72, 0.19), "m", what="two series").verdict == "not supported"
    assert judge_joint_change(tests(0.98, 0.008), "m", what="two series").verdict == "holds"
    assert "r = 0.95" in judge_joint_change(tests(0.98, 0.008), "m", what="two series").reason


def test_rising_lists_profiles_by_rise_largest_first():
    frame = pd.DataFrame(
        {"display_name": ["A", "B", "C"], "rise_shown": [True, False, True], "draw_up": [0.003, 0.001, 0.02]}
    )
    assert rising_profiles(frame) == (2, "C (+0.020) and A (+0.003)")


@pytest.mark.parametrize(("names", "text"), [([], "none"), (["a"], "a"), (["a", "b", "c"], "a, b and c")])
def test_listed_joins_names_with_commas_and_and(names, text):
    assert listed(names) == text


# --- the builder of a claim


STATEMENT = """The statement,
    on two lines.
    """
PLACE = "002, Section name"
ONE = 'Verdict(verdict="holds", reason="so")'


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that writes a claim to a new module and returns its ledger rows."""
    (tmp_path / DOCUMENTS).parent.mkdir(parents=True)
    (tmp_path / DOCUMENTS).write_text((ROOT / DOCUMENTS).read_text())

    def build_claim(returned=ONE, docstring=STATEMENT, decorator=f'@claim("{PLACE}")'):
        module = f"made_claims_{abs(hash((returned, docstring, decorator)))}"
        quotes = '"' * 3
        text = f"from boundpaper.claims import Verdict, claim\n\n\n{decorator}\ndef c000_one():\n"
        text += f"    {quotes}{docstring}{quotes}\n"
        (tmp_path / f"{module}.py").write_text(f"{text}    return {returned}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        job = Job(tmp_path, "claim", "c000_one", f"{module}.py", "c000_one", {}, ())
        ((path, content),) = _build.build(job).items()
        assert path == "out/claims/c000_one.json"
        return json.loads(content)

    return build_claim


def test_a_claim_becomes_a_row_with_its_docstring_as_statement(build):
    (row,) = build()
    assert row["claim"] == "c000_one"
    assert row["statement"] == "The statement, on two lines."
    assert (row["source"], row["section"]) == ("002", "Section name")
    assert row["order"][0] == "002"


def test_several_verdicts_carry_keys_and_their_own_statements(build):
    rows = build('[Verdict(verdict="holds", reason="so", key=key, statement=f"On {key}.") for key in ("a", "b")]')
    assert [row["claim"] for row in rows] == ["c000_one.a", "c000_one.b"]
    assert [row["statement"] for row in rows] == ["On a.", "On b."]


@pytest.mark.parametrize("given", [{"docstring": ""}, {"decorator": ""}])
def test_a_claim_without_statement_or_place_is_refused(build, given):
    with pytest.raises(SpecError, match=r"needs the statement as its docstring, and the decorator @claim"):
        build(**given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('"002"', "write the document and the section"),
        ('"002, Results", failure="unitt"', "the unknown failure 'unitt'; use one of number"),
        ('"002, Results", severity="large"', "the unknown severity 'large'; use one of headline"),
    ],
)
def test_arguments_of_the_claim_decorator_are_checked(build, arguments, message):
    with pytest.raises(SpecError, match=message):
        build(decorator=f"@claim({arguments})")


def test_yielded_verdicts_become_a_list(build):
    yielding = "(yield from [Verdict(verdict='holds', reason='so', key=key) for key in 'ab'])"
    assert [row["claim"] for row in build(yielding)] == ["c000_one.a", "c000_one.b"]


def test_unknown_document_is_refused_with_the_table_of_documents(build):
    with pytest.raises(SpecError, match=r"no document '005'; .*documents.csv has 000, .*: add a row there"):
        build(decorator='@claim("005, A document that is none")')


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("True", "returned bool"),
        ("[]", "returned list"),
        ('[Verdict(verdict="holds", reason="so"), "no"]', "returned list"),
        ('[Verdict(verdict="holds", reason="so", key="a")] * 2', "give each of them a key of its own"),
        ('[Verdict(verdict="holds", reason="so", key=key) for key in ("a", "")]', "give each of them a key of its own"),
    ],
)
def test_return_value_of_a_claim_is_checked(build, returned, message):
    with pytest.raises(SpecError, match=message):
        build(returned)


# --- the ledger


def test_the_ledger_is_ordered_by_document_file_and_line(tmp_path):
    folder = tmp_path / "out/claims"
    folder.mkdir(parents=True)
    places = {"c004_x": ["004", "b.py", 5], "c002_late": ["002", "b.py", 90], "c002_early": ["002", "b.py", 8]}
    places["c002_first"] = ["002", "a.py", 300]
    for name, order in places.items():
        keys = ("a", "b") if name == "c002_late" else ("",)
        rows = [
            {
                **dict.fromkeys(("kind", "section", "statement", "reported", "recomputed", "reason"), "x"),
                **dict.fromkeys(("n", "ci_low", "ci_high", "p_value")),
                "claim": name + (f".{key}" if key else ""),
                "source": order[0],
                "verdict": "holds",
                "order": order,
            }
            for key in keys
        ]
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    inputs = tuple(f"out/claims/{name}.json" for name in sorted(places, reverse=True))
    job = Job(tmp_path, "ledger", "claims", "packages/boundpaper/src/boundpaper/claims/ledger.py", "build", {}, inputs)
    text = _ledger.build(job)["artifacts/results/claims.csv"].decode()
    lines = text.splitlines()
    assert lines[0] == ",".join(_ledger.COLUMNS)
    assert [line.partition(",")[0] for line in lines[1:]] == [
        "c002_first", "c002_early", "c002_late.a", "c002_late.b", "c004_x",
    ]  # fmt: skip


def test_empty_ledger_is_refused(tmp_path):
    job = Job(tmp_path, "ledger", "claims", "packages/boundpaper/src/boundpaper/claims/ledger.py", "build", {}, ())
    with pytest.raises(SpecError, match="contains no claim"):
        _ledger.build(job)


def test_a_quoted_value_is_immutable():
    value = QuotedCell("1", 1.0, 0, Interval(0.5, 1.5))
    with pytest.raises(AttributeError):
        value.printed = "2"  # type: ignore[misc]
