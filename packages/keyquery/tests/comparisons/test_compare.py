"""Comparison of measured models: how units are paired and tested, and what cannot be compared."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from boundpaper.cli.door import command_line
from boundpaper.errors import DataError
from boundpaper.figures import Forest
from keyquery.comparisons.comparison import Comparison, compare_models
from keyquery.comparisons.measured import read
from keyquery.measure.measurements import save
from keyquery.measure.rows import Row, frame, row

PATTERNS, KNOWLEDGE = "attention_patterns", "knowledge"
Facts = dict[str, Any]


def of_texts(values: Sequence[float | None], metric: str = "first_attention", ending: str = "#0") -> list[Row]:
    return [
        row(metric, value, 1, unit_id=f"book-{number}{ending}", reason="" if value is not None else "too short")
        for number, value in enumerate(values)
    ]


def of_items(right: list[int], condition: str = "baseline") -> list[Row]:
    return [
        row("cities_right", value, 1, condition=condition, unit_id=f"cities-{number:04d}", seed=0)
        for number, value in enumerate(right)
    ]


def manifest(**facts: Any) -> Facts:
    """Return an experiment's manifest, with the given facts changed."""
    result: Facts = {
        "model": {"fingerprint": "aa", "dtype": "float32", "quantization": None, "tokenizer": "words"},
        "hashes": {"texts": {"book": {"count": 8, "blake2": "t"}}, "items": {"cities": {"count": 8, "blake2": "i"}}},
        "options": {"texts": 8, "tokens": 64, "items": 8, "seeds": [0]},
        "versions": {"torch": "2.13.0", "transformers": "5.23.0"},
    }
    for name, value in facts.items():
        result[name] = {**result.get(name, {}), **value}
    return result


def save_rows(root: Path, name: str, experiment: str, rows: list[Row], **facts: Any) -> Path:
    [path] = save(root, {experiment: frame(rows, "rope", "fp32")}, name, manifest(**facts))
    return path


def save_heads(root: Path, model: str, values: dict[tuple[int, int], list[float]], **captured: Any) -> None:
    """Save a table of heads; `values` maps each layer and key head to the values of the query heads that read it."""
    rows = [
        {"layer": layer, "head": key * len(of_key_head) + i, "key_head": key, "queries": 64, "keys": 64}
        | {"ap_overall": value, "pc0_kind": "mixed", "reason": ""}
        for (layer, key), of_key_head in values.items()
        for i, value in enumerate(of_key_head)
    ]
    facts = {"capture": {"context": 128, "documents": 4, "text_hash": "x", "dtype": "float32", **captured}}
    save(root, {"head_metrics": pd.DataFrame(rows)}, model, {"options": {"estimator": "bucket_full"}, **facts})


def compared(root: Path, *models: str, **options: Any) -> Comparison:
    return compare_models([read(root, name) for name in models], **options)


A = [0.1, 0.25, 0.3, 0.15, 0.4, 0.2, 0.33, 0.27]
B = [0.3, 0.2, 0.5, 0.45, 0.6, 0.35, 0.5, 0.31]


def test_texts_are_paired_and_tested_by_sign_flips(tmp_path: Path) -> None:
    save_rows(tmp_path, "a", PATTERNS, of_texts(A))
    save_rows(tmp_path, "b", PATTERNS, list(reversed(of_texts(B))))
    [tested] = compared(tmp_path, "a", "b").tests
    differences = 100 * (np.array(B) - np.array(A))
    flips = [abs(float(np.mean(differences * signs))) for signs in itertools.product((1, -1), repeat=8)]
    observed = abs(float(differences.mean()))
    assert tested.row.p_value == sum(flip >= observed - 1e-9 for flip in flips) / 256
    assert tested.row.estimate == pytest.approx(differences.mean())
    assert tested.row.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert (tested.row.unit, tested.row.n, tested.means[0]) == ("text", 8, pytest.approx(100 * np.mean(A)))


def test_items_are_tested_by_mcnemar_with_shares_in_percent(tmp_path: Path) -> None:
    save_rows(tmp_path, "a", KNOWLEDGE, of_items([1, 1, 1, 1, 1, 1, 1, 0]))
    save_rows(tmp_path, "b", KNOWLEDGE, of_items([0, 0, 0, 0, 0, 0, 1, 0]))
    [tested] = compared(tmp_path, "a", "b").tests
    assert (tested.row.test, tested.row.p_value) == ("mcnemar_exact", 2 / 64)
    assert tested.row.estimate == pytest.approx(-75.0)
    assert tested.row.ci_low is not None
    assert -100 <= tested.row.ci_low < -75


def test_query_heads_that_read_the_same_keys_are_one_unit(tmp_path: Path) -> None:
    key_heads = list(itertools.product(range(4), range(2)))
    save_heads(tmp_path, "a", {key_head: [0.5, 0.7] for key_head in key_heads})
    save_heads(tmp_path, "b", {(layer, head): [0.6 + 0.01 * layer, 0.9] for layer, head in key_heads})
    [tested] = compared(tmp_path, "a", "b").tests
    assert (tested.row.unit, tested.row.n, tested.row.test) == ("key head", 8, "sign_flips")
    assert tested.row.estimate == pytest.approx(0.15 + 0.0075)


def test_models_of_different_shapes_are_compared_unpaired_with_a_note(tmp_path: Path) -> None:
    save_heads(tmp_path, "a", {(layer, 0): [0.5 + 0.01 * layer] for layer in range(6)})
    save_heads(tmp_path, "b", {(layer, 0): [0.7 + 0.02 * layer] for layer in range(9)})
    actual = compared(tmp_path, "a", "b")
    assert actual.tests[0].row.test == "welch_t"
    assert "not paired" in str(actual)


def test_holm_is_over_all_tests_of_the_comparison(tmp_path: Path) -> None:
    for name, shift in (("a", 0.0), ("b", 0.2), ("c", 0.3)):
        rows = of_texts([value + shift for value in A]) + of_texts([value - shift for value in B], "local_attention")
        save_rows(tmp_path, name, PATTERNS, rows)
    actual = compared(tmp_path, "a", "b", "c")
    assert {test.row.adjustment for test in actual.tests} == {"Holm over 4 tests of this comparison"}
    assert [test.row.p_adjusted for test in actual.tests] == [4 * 2 / 256] * 4
    assert [test.models for test in actual.tests] == [("a", "b")] * 2 + [("a", "c")] * 2


def test_text_without_a_value_drops_its_pair_and_parts_of_a_text_are_noted(tmp_path: Path) -> None:
    save_rows(tmp_path, "a", PATTERNS, of_texts(A))
    save_rows(tmp_path, "b", PATTERNS, of_texts([None, *B[1:]]))
    [tested] = compared(tmp_path, "a", "b").tests
    assert tested.row.n == 7
    assert "1 of 8 units left out for lack of a value: too short" in tested.row.note
    chunks = [row("first_attention", value, 1, unit_id=f"book#{index}") for index, value in enumerate(A)]
    save_rows(tmp_path, "c", PATTERNS, chunks)
    save_rows(tmp_path, "d", PATTERNS, chunks)
    assert "8 units are 1 independent one." in str(compared(tmp_path, "c", "d"))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"model": {"tokenizer": "others"}}, "have different tokenizers.*--by item"),
        ({"hashes": {"texts": {"book": {"count": 8, "blake2": "u"}}}}, "different texts of book; measure both"),
        ({"hashes": {"texts": {"book": {"count": 6, "blake2": "u"}}}}, "8 and 6 texts of book"),
        ({"options": {"tokens": 128}}, r"have different settings \(tokens 64, 128\)"),
        ({"thresholds": {}, "settings": {"where": "pre"}}, r"have different settings \(where not given, pre\)"),
    ],
)
def test_measurements_with_different_settings_are_refused(tmp_path: Path, facts: Facts, message: str) -> None:
    save_rows(tmp_path, "a", PATTERNS, of_texts(A))
    save_rows(tmp_path, "b", PATTERNS, of_texts(B), **facts)
    with pytest.raises(DataError, match=message):
        compared(tmp_path, "a", "b")


def test_item_measurements_may_differ_in_tokenizer_and_precision_with_a_note(tmp_path: Path) -> None:
    save_rows(tmp_path, "a", KNOWLEDGE, of_items([1, 1, 1, 1, 1, 1, 1, 0]))
    other = {"tokenizer": "others", "dtype": "bfloat16", "quantization": {"type": "nf4"}}
    save_rows(tmp_path, "b", KNOWLEDGE, of_items([0, 0, 0, 0, 0, 0, 1, 0]), model=other)
    printed = str(compared(tmp_path, "a", "b"))
    assert "Guard mixed protocol: precision float32 (a) against nf4 and bfloat16 (b)." in printed
    assert "Guard mixed protocol: tokenizer words (a) against others (b)." in printed


def test_items_that_tokenizers_fill_differently_are_left_out_with_a_note(tmp_path: Path) -> None:
    for name, shift in (("a", 0), ("b", 1)):
        passkeys = [row("passkey_right", 1, 1, condition="baseline", unit_id=f"passkey-{n}", seed=0) for n in range(8)]
        rows = of_items([1 - shift] * 7 + [0]) + passkeys
        items = {"cities": {"count": 8, "blake2": "i"}, "passkey": {"count": 8, "blake2": name}}
        save_rows(tmp_path, name, KNOWLEDGE, rows, hashes={"items": items}, model={"tokenizer": name})
    actual = compared(tmp_path, "a", "b")
    assert [test.quantity.metric for test in actual.tests] == ["cities_right"]
    assert "measured on different items of passkey; their tokenizers pad a prompt to its length" in actual.left_out[0]


def test_too_few_units_name_the_smallest_p_and_how_many_are_needed(tmp_path: Path) -> None:
    for name, values in (("a", A[:5]), ("b", B[:5])):
        save_rows(tmp_path, name, PATTERNS, of_texts(values))
    with pytest.raises(DataError, match=r"5 texts allow no p below 0.0625, .*; measure 6 or more \(run --documents 6"):
        compared(tmp_path, "a", "b")
    for name, values in (("a", A[:6]), ("b", B[:6])):
        save_rows(tmp_path, name, PATTERNS, of_texts(values) + of_texts(values, "local_attention"))
    note = "2 of 2 tests cannot come below .05 after Holm (6 texts give 0.062 at best); measure 7 units"
    assert note in str(compared(tmp_path, "a", "b"))


def test_partly_measured_model_is_noted_and_truncated_table_refused(tmp_path: Path) -> None:
    path = save_rows(tmp_path, "a", PATTERNS, of_texts(A))
    save_rows(tmp_path, "a", KNOWLEDGE, of_items([1, 0] * 4))
    save_rows(tmp_path, "b", PATTERNS, of_texts(B))
    assert compared(tmp_path, "a", "b").left_out == ("knowledge: not of b; left out",)
    with pytest.raises(DataError, match=r"b has no knowledge.*run knowledge --model MODEL --name b"):
        read(tmp_path, "b", ("knowledge",))
    save_rows(tmp_path, "c", KNOWLEDGE, of_items([1, 0] * 4))
    with pytest.raises(DataError, match=r"measured on all.*b has attention_patterns; c has knowledge"):
        compared(tmp_path, "b", "c")
    save_rows(tmp_path, "d", PATTERNS, of_texts(B[:7]))
    with pytest.raises(DataError, match="8 texts and 7 texts; measure both again"):
        compared(tmp_path, "a", "d")
    path.write_text("\n".join(path.read_text().splitlines()[:-2]) + "\n")
    with pytest.raises(DataError, match="6 rows of 8"):
        read(tmp_path, "a")
    path.with_suffix(".json").unlink()
    with pytest.raises(DataError, match="no manifest says how it was made"):
        read(tmp_path, "a")


def test_head_tables_of_two_captures_are_refused(tmp_path: Path) -> None:
    save_heads(tmp_path, "a", {(0, 0): [0.5], (0, 1): [0.25]})
    table = pd.DataFrame({"metric": ["ap_overall"], "value": [0.5]})
    for context in (128, 64):
        capture = {"context": context, "documents": 4, "text_hash": "x", "dtype": "float32", "vectors": str(context)}
        save(tmp_path, {"model_metrics": table}, "a", {"options": {}, "capture": capture})
        if context == 128:  # hashes of vectors depend on the processor
            assert list(read(tmp_path, "a").tables) == ["head_metrics"]
    message = r"head_metrics and model_metrics come from different captures.*CAPTURE --name a"
    with pytest.raises(DataError, match=message):
        read(tmp_path, "a")


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder outside any project, with measurements of two models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)
    save_rows(tmp_path, "tiny-a", PATTERNS, of_texts(A))
    save_rows(tmp_path, "tiny-b", PATTERNS, of_texts(B))
    return tmp_path


def command(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["compare", *map(str, arguments)])


def test_the_command_prints_a_table_and_writes_a_report(outside: Path) -> None:
    result = command("tiny-a", "tiny-b", "--report", "out")
    assert result.exit_code == 0, result.output
    assert "tiny-b minus tiny-a" in result.stdout
    page = (outside / "out/comparison.md").read_text()
    assert page.startswith("# tiny-b against tiny-a")
    assert "Holm over all 1 test as one family" in page
    assert pd.read_csv(outside / "out/comparison.csv")["p_value"].tolist() == [6 / 256]
    comparison = json.loads(command("tiny-a", "tiny-b", "--json").stdout)
    assert comparison == json.loads((outside / "out/comparison.json").read_text())
    assert comparison["tests"][0]["p_value"] == 6 / 256
    suffixes = [path.suffix for path in sorted((outside / "out").iterdir())]
    assert suffixes in ([".csv", ".json", ".md", ".pdf", ".png"], [".csv", ".json", ".md", ".tex"])
    result = CliRunner().invoke(command_line(), ["report", "own"])  # the two models measured in this folder
    lines = [f"own/comparison{suffix}\n" for suffix in (".md", ".csv", ".json", *suffixes[3:])]
    assert result.stdout.endswith("".join(lines))
    assert (outside / "own/comparison.md").read_text() == page
    save_rows(outside, "b2", PATTERNS, of_texts(B), model={"model": "org/Other"})
    assert command("b", "tiny-a").stdout == command("b2", "tiny-a").stdout == command("org/other", "tiny-a").stdout
    result = CliRunner().invoke(command_line(), ["report", "own"])
    assert (result.exit_code, "measured here: b2, tiny-a, tiny-b" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("tiny-a",), 2, "name two models or more"),
        (("tiny-a", "tiny-a"), 1, "tiny-a is compared with itself"),
        (("tiny", "tiny-a"), 1, "'tiny' may be any of tiny-a, tiny-b; give one of these names in full"),
        (("tiny-a", "tiny-c"), 1, "no measurements of 'tiny-c'"),
        (("tiny-a", "tiny-b", "--by", "item"), 1, "no item is kept of tiny-a and tiny-b"),
        (("tiny-a", "tiny-b", "--experiment", "sinks"), 1, "tiny-a has no sinks; measure it: run sinks"),
        (("tiny-a", "tiny-b", "--experiment", "attention_pattern"), 1, "did you mean 'attention_patterns'?\n"),
        (("tiny-a", "tiny-b", "--metric", "first_atention"), 1, "'first_atention' in attention_patterns; did"),
    ],
)
def test_invalid_arguments_of_compare_are_reported_without_traceback(
    outside: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = command(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_equal_labels_of_two_experiments_get_a_panel_each(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        save_rows(tmp_path, name, PATTERNS, of_texts(values))
        rows = [{**of_text, "condition": "rows=all"} for of_text in of_texts(values, "sink_score")]
        save_rows(tmp_path, name, "sinks", rows)
    actual = compared(tmp_path, "a", "b")
    [panel] = actual.figure().panels
    assert isinstance(panel.series[0], Forest)
    assert panel.series[0].rows == ("attention to the first token",) * 2
    assert actual.figure().save(tmp_path / "figure.tex").is_file()
    assert actual._repr_html_().count("<tr") >= 3
