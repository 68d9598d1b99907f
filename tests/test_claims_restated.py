"""Numbers that a text repeats from a table, on hand-made frames: each is compared with its own cell of the table."""

import inspect

import pandas as pd
import pytest
import yaml

from boundpaper.store.frames import parsed
from claims_cases import function, prints, rows, say, states, verdicts
from conftest import ROOT

LISTED = yaml.safe_load((ROOT / "tests/claims_repeats.yaml").read_text())
REPEATS = LISTED["repeats"]
STATED = ("stated_001", "stated_002", "drope_stated", "drope_captions")
INTEGERS = {"context", "decile"}  # columns whose keys are numbers


def cells(claim):
    """Return, by statement, the cell whose value the statement repeats, as (table, ((column, key), ...))."""
    lines = {}
    for line in REPEATS[claim].splitlines():
        statement, table, *where = line.split()
        pairs = [each.split("=") for each in where]
        lines[statement] = table, tuple((name, int(key) if name in INTEGERS else key) for name, key in pairs)
    return lines


def frames(claim, **misprinted):
    """Return the frames of a claim. Cells have distinct numbers, which the text repeats except for `misprinted`."""
    places = cells(claim)
    printed = {place: f"{10.1 + 0.1 * number:.1f}" for number, place in enumerate(dict.fromkeys(places.values()))}
    texts: dict[str, dict[str, str]] = {name: {} for name in STATED}
    tables: dict[str, list[dict]] = {}
    for (table, where), text in printed.items():
        if table in STATED:
            texts[table][dict(where)["statement"]] = text
        else:
            tables.setdefault(table, []).append({**dict(where), "printed": text})
    for statement, place in places.items():
        table = "drope_captions" if statement.startswith("fig_") else text_of(claim)
        texts[table][statement] = misprinted.get(statement, printed[place])
    actual = {name: parsed(pd.DataFrame(lines)) for name, lines in tables.items()}
    for name, values in texts.items():
        actual[name] = states(**values).rename(columns={"model": "positional"} if name.startswith("drope") else {})
        actual[name]["source"] = "004 5.5"
        if name == "drope_captions":
            actual[name]["figure"] = "1"
    return {name: actual[name] for name in inspect.signature(function(claim)).parameters}


def text_of(claim):
    return {"c001": "stated_001", "c002": "stated_002"}.get(claim[:4], "drope_stated")


@pytest.mark.parametrize("claim", REPEATS)
def test_each_repeated_number_is_that_of_its_own_cell(claim):
    judged = verdicts(claim, **frames(claim))
    assert list(judged) == list(cells(claim))
    assert set(judged.values()) == {"holds"}


@pytest.mark.parametrize("claim", REPEATS)
def test_misprints_fail_their_own_rows_only(claim):
    for half in (list(cells(claim))[::2], list(cells(claim))[1::2]):
        judged = verdicts(claim, **frames(claim, **dict.fromkeys(half, "99.9")))
        assert [key for key, answer in judged.items() if answer != "holds"] == half


def test_repeated_settings_are_compared_with_their_first_statement():
    first = {"deeper_layers": "32", "s11_1_training_length": "4096", "s11_4_near_miss_digits": "1"}
    first |= {"s11_4_passkey_digits": "5"}
    repeats: dict[str, object] = {"meaning_rope_layers": "32", "s2_1_layers": "32", "s11_1_limit_context": "4K"}
    repeats |= {"s11_5_rope_within_context": "4096", "s11_5_near_miss_digits": "1", "s11_6_near_miss_digits": "1"}
    repeats |= {"s11_6_passkey_digits": "5", "s11_5_rope_within_exact": "80%", "s4_5_drope_degradation": ("zero", None)}
    tables = (
        prints("positional context printed", ("RoPE", 4096, "80%"), ("RoPE", 2048, "60%"), ("DroPE", 4096, "10%")),
        prints(
            "positional task metric printed",
            ("DroPE", "passkey", "degradation", "0%"),
            ("RoPE", "passkey", "degradation", "100%"),
        ),
    )

    def judge_repeats(**other):
        stated = (
            states(**{**first, **repeats, **other}).rename(columns={"model": "positional"}).assign(source="004 11.1")
        )
        return verdicts("c004_repeated_settings", stated, *tables)

    # the first value is printed as 4K, which means 3,500 to 4,500 and includes the table's 4096
    assert judge_repeats() == dict.fromkeys(repeats, "holds")
    for key, other in (("s2_1_layers", "33"), ("s11_5_rope_within_exact", "60%"), ("s11_6_passkey_digits", "7")):
        assert judge_repeats(**{key: other}) == {**dict.fromkeys(repeats, "holds"), key: "contradicted"}
    assert judge_repeats(s4_5_drope_degradation=("one", None))["s4_5_drope_degradation"] == "contradicted"


@pytest.mark.parametrize(("models", "expected"), [(13, "holds: 13"), (12, "contradicted: 12")])
def test_number_of_compared_models_is_counted_in_the_table(models, expected):
    stated = states(ruler_mistral_models="13", h7_models="13")
    table = rows("model", *[(f"m{number}",) for number in range(models)])
    verdict = say("c002_restated_counts", stated, table)
    assert verdict == dict.fromkeys(("ruler_mistral_models", "h7_models"), expected)


@pytest.mark.parametrize(("layers", "expected"), [(32, "holds: 32"), (31, "contradicted: 31")])
def test_number_of_layers_is_counted_in_the_published_norms(layers, expected):
    verdict = say("c004_bal_all_layers", states(s10_2_layers="32"), rows("layer", *[(n,) for n in range(layers)]))
    assert list(verdict.values()) == [expected]


def test_stated_sink_head_share_is_compared_for_each_model():
    stated = states(s8_4_sink_heads="~93%")
    table = prints("positional metric printed", ("RoPE", "sink_heads", "93.5%"), ("DroPE", "sink_heads", "80.1%"))
    assert verdicts("c004_pat_sink_heads_alike", stated, table) == {"RoPE": "holds", "DroPE": "contradicted"}


def test_each_summary_row_is_compared_with_its_section():
    """Errors are reported for DroPE only; every other row covers both models."""
    tables: dict[str, list[dict]] = {}
    summary = []
    for number, line in enumerate(LISTED["summary"].splitlines()):
        metric, table, *where = line.split()
        pairs = [each.split("=") for each in where]
        for model in ("DroPE",) if table == "drope_errors" else ("RoPE", "DroPE"):
            text = f"{10 + number + 0.5 * (model == 'DroPE'):.1f}"
            keys = {name: int(key) if name in INTEGERS else key for name, key in pairs}
            tables.setdefault(table, []).append({**keys, "positional": model, "printed": text})
            summary.append({"metric": metric, "positional": model, "printed": text})
    originals = {name: parsed(pd.DataFrame(lines)) for name, lines in tables.items()}

    def judge_summary(printed):
        return verdicts("c004_dis_summary_rows", parsed(pd.DataFrame(printed)), **originals)

    judged = [f"{row['metric']}-{row['positional']}" for row in summary]
    assert judge_summary(summary) == dict.fromkeys(judged, "holds")
    for odd in (0, 1):
        misprinted = [{**row, "printed": "99.9"} if index % 2 == odd else row for index, row in enumerate(summary)]
        assert [name for name, answer in judge_summary(misprinted).items() if answer != "holds"] == judged[odd::2]
