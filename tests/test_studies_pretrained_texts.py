"""Repeated sentences and source code against prose: results, tables, and claims in both directions."""

import math

import pandas as pd
import pytest
from scipy import stats

from analysis.claims.thesis.pretrained import models
from analysis.claims.thesis.pretrained import texts as claims
from analysis.studies.pretrained.one_position import pretrained_one_position
from analysis.studies.pretrained.other_texts import (
    PLASTICITY,
    pretrained_kinds,
    pretrained_plasticity_kinds,
    pretrained_repeated,
)
from boundpaper.errors import DataError
from boundpaper.tables.render import render
from keyquery.models import text_sets
from keyquery.models.texts import TextSource, texts
from tables.pretrained import pretrained_kinds as kinds_table
from tables.pretrained import pretrained_plasticity_kinds as plasticity_table
from tables.pretrained import pretrained_repeated as repeated_table

COLUMNS = ["model", "condition", "unit_id", "metric", "value", "n"]
MODELS = pd.DataFrame({"model": ["mine"], "display_name": ["Mine"]})
SUBJECTS = pd.DataFrame({"model": ["mine", "other"], "role": ["pretrained", "lab"]})


def disrupted(model, values, plain):
    name = "threshold_massive_zero_pre"
    mean = sum(values) / len(values)
    rows = [(model, name, "", "delta_nats", mean, len(values))]
    rows += [(model, name, "", "perplexity", math.exp(plain + mean), len(values))]
    rows += [(model, name, f"text-{place}", "text_delta_nats", value, 1) for place, value in enumerate(values)]
    return rows


def repeated(natural=(1.0, 1.2, 1.1), repeated_losses=(3.0, 3.2, 3.4)):
    rows = (
        disrupted("mine", natural, 4.0)
        + disrupted("mine-repeated", repeated_losses, 1.5)
        + disrupted("other", repeated_losses, 2.0)
    )
    return pretrained_repeated(pd.DataFrame(rows, columns=COLUMNS), MODELS, SUBJECTS)


def kinds(prose=(10.0, 12.0, 11.0), code=(20.0, 22.0, 23.0)):
    rows = [
        (model, "pre lambda=5", f"text-{place}", "massive_total_q", value, 1)
        for model, values in (("mine", prose), ("mine-code", code), ("other-code", code))
        for place, value in enumerate(values)
    ]
    rows.append(("mine", "pre lambda=5", "", "massive_total_q", 99.0, 3))
    return pretrained_kinds(pd.DataFrame(rows, columns=COLUMNS), MODELS, SUBJECTS)


def test_loss_difference_is_computed_on_natural_and_repeated_text():
    [row] = repeated().to_dict("records")
    assert (row["natural_texts"], row["repeated_texts"]) == (3, 3)
    assert [row["plain_natural"], row["plain_repeated"]] == pytest.approx([4.0, 1.5])
    assert [row["natural"], row["repeated"], row["difference"]] == pytest.approx([1.1, 3.2, 2.1])
    degrees = ((0.01 + 0.04) / 3) ** 2 / ((0.01 / 3) ** 2 / 2 + (0.04 / 3) ** 2 / 2)
    assert degrees == pytest.approx(2.941, abs=1e-3)
    half = 3.2196 * math.sqrt((0.01 + 0.04) / 3)
    assert [row["low"], row["high"]] == pytest.approx([2.1 - half, 2.1 + half], abs=2e-3)


@pytest.mark.parametrize(
    ("repeated_losses", "expected"),
    [((3.0, 3.2, 3.4), "holds"), ((0.1, 0.2, 0.1), "contradicted"), ((0.5, 2.0, 1.5), "not significant")],
)
def test_repeated_sentences_are_compared_with_natural_text(repeated_losses, expected):
    [verdicts] = claims.thesis_pretrained_repeated(repeated(repeated_losses=repeated_losses))
    assert (verdicts.key, verdicts.verdict) == ("mine_zero", expected)


def test_massive_values_are_counted_on_prose_and_on_code():
    [row] = kinds().to_dict("records")
    assert [row["prose"], row["code"], row["tensor"]] == [11.0, pytest.approx(65 / 3), "query"]
    assert row["low"] > 0


@pytest.mark.parametrize(
    ("code", "expected"),
    [((20.0, 22.0, 23.0), "holds"), ((1.0, 2.0, 1.0), "holds"), ((8.0, 16.0, 12.0), "not significant")],
)
def test_code_is_compared_with_prose(code, expected):
    [verdicts] = claims.thesis_pretrained_kinds(kinds(code=code))
    assert (verdicts.key, verdicts.verdict) == ("mine_query", expected)


def heads(changes, prose=0.6):
    """Return rows of two query heads per key head; `changes` is what every metric gains on code, by key head."""
    rows = []
    for key_head, change in enumerate(changes):
        for head in (2 * key_head, 2 * key_head + 1):
            on_prose = dict.fromkeys(PLASTICITY, prose + 0.01 * head)
            on_code = {metric: value + change for metric, value in on_prose.items()}
            labels = {"layer": 0, "key_head": key_head, "head": head}
            rows += [{"model": "mine", **labels, **on_prose}, {"model": "mine-code", **labels, **on_code}]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ((0.01, -0.01, 0.02, -0.02), "holds"),
        ((0.2, -0.2, 0.1, -0.1), "not supported"),
        ((0.2, 0.21, 0.2, 0.19), "contradicted"),
        ((-0.2, -0.21, -0.2, -0.19), "contradicted"),
    ],
)
def test_equal_heads_are_compared_between_prose_and_code(changes, verdict):
    rows = pretrained_plasticity_kinds(heads(changes), MODELS, SUBJECTS)
    row = rows.set_index("metric").loc["ap_overall"]
    assert row[["heads", "key_heads"]].tolist() == [8, 4]
    assert row["difference"] == pytest.approx(sum(changes) / 4)
    assert row["prose"] == pytest.approx(0.635)
    verdicts = {each.key: each.verdict for each in claims.thesis_plasticity_kinds(rows)}
    assert verdicts == {"mine_ap_overall": verdict, "mine_ap_drop": verdict}


def test_heads_of_one_text_kind_only_are_refused():
    alike = pretrained_plasticity_kinds(heads((0.1, 0.1, 0.1, 0.1)), MODELS, SUBJECTS)
    assert "on source code" in render(plasticity_table.table(alike), "x", "markdown")
    single = pretrained_plasticity_kinds(heads((0.1,)), MODELS, SUBJECTS)
    assert {each.verdict for each in claims.thesis_plasticity_kinds(single)} == {"not testable"}
    with pytest.raises(DataError, match="--texts code:evaluation"):
        pretrained_plasticity_kinds(heads((0.1,)).query("model == 'mine'"), MODELS, SUBJECTS)


def test_groups_without_variance_have_their_difference_as_interval():
    [row] = kinds((10.0, 10.0), (12.0, 12.0)).to_dict("records")
    assert [row["low"], row["difference"], row["high"]] == [2.0, 2.0, 2.0]


def test_missing_text_measurements_error_names_the_recipe():
    incomplete = pd.DataFrame(disrupted("mine", (1.0, 2.0), 3.0), columns=COLUMNS)
    with pytest.raises(DataError, match=r"pretrained-repeated\.yaml"):
        pretrained_repeated(incomplete, MODELS, SUBJECTS)
    incomplete = incomplete.assign(condition="pre lambda=5", metric="massive_total_q")
    with pytest.raises(DataError, match=r"pretrained-code\.yaml"):
        pretrained_kinds(incomplete, MODELS, SUBJECTS)


def test_tables_show_the_results():
    text = str(render(repeated_table.table(repeated()), "r"))
    assert "4.00 and 1.50 nats per token" in text
    assert "Source code" in str(render(kinds_table.table(kinds()), "k"))


def test_a_set_repeats_the_first_whole_sentence_of_each_document(monkeypatch):
    heading, sentence = "F.1 A heading without an end\n", "This is the first sentence of the text."
    book = [("a", f"{heading}{sentence} This is another one, and it is as long."), ("b", "No sentence here")]
    monkeypatch.setitem(text_sets.SETS, "again", lambda: text_sets._repeated_sentences(lambda: iter(book)))
    assert list(texts(TextSource("again"))) == [("a", f"{sentence} {sentence}")]


def at_one_position(falls, low=0.5):
    """Return plasticity in three bins (0 unless aligned, width 1024); it falls by `falls`, one value per key head."""
    rows = []
    for number, fall in enumerate(falls):
        for head in (2 * number, 2 * number + 1):
            for place, value in ((1024, low + fall), (2048, 0.1), (3072, low)):
                for width, estimator, kept in (
                    (64, "aligned_full", 0.0),
                    (1024, "aligned_full", 1.0),
                    (1024, "bucket_full", 0.0),
                ):
                    rows.append(
                        {"model": "mine-code", "estimator": estimator, "width": width, "layer": 0, "head": head}
                        | {"key_head": number, "low": place, "high": place + 1024, "plasticity": kept * value}
                    )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("fall", "spread", "heads", "verdict"),
    [
        (0.2, 0.01, 12, "holds"),
        (-0.2, 0.01, 12, "contradicted"),
        (0.01, 0.4, 12, "not significant"),
        (0.2, 0.01, 9, "not testable"),
    ],
)
def test_fall_at_one_position_is_averaged_over_key_heads(fall, spread, heads, verdict):
    falls = [fall + spread * (-1) ** number for number in range(heads)]
    [row] = pretrained_one_position(at_one_position(falls), MODELS, SUBJECTS).to_dict("records")
    assert (row["heads"], row["key_heads"], row["texts"]) == (2 * heads, heads, "code")
    assert row["fall"] == pytest.approx(sum(falls) / heads)
    assert [row["first"], row["last"]] == pytest.approx([0.5 + sum(falls) / heads, 0.5])
    half = 0 if heads % 2 else stats.t.ppf(0.975, heads - 1) * spread / (heads - 1) ** 0.5
    assert not half or [row["low"], row["high"]] == pytest.approx([fall - half, fall + half])
    [judged] = models.thesis_pretrained_one_position(pd.DataFrame([row]))
    assert (judged.key, judged.verdict) == ("mine-code", verdict)
