"""Transcriptions of documents 000 (layer study), 003 (delta-P charts) and 004 (DroPE) are complete and consistent."""

import csv
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from boundpaper.errors import DataError
from boundpaper.store.descriptor import full_package
from boundpaper.typeset.printed import parse
from committed import source_rows as rows

ROOT = Path(__file__).resolve().parents[1]
PREFIXES = ("drope_", "nope_", "delta_p_")
RESOURCES: dict[str, dict[str, Any]] = {
    entry["name"]: entry
    for entry in full_package(ROOT)["resources"]
    if entry["kind"] == "source" and entry["name"].startswith(PREFIXES)
}
FILES = sorted(path.stem for path in (ROOT / "artifacts/sources").glob("*.csv") if path.stem.startswith(PREFIXES))


def key(name: str) -> list[str]:
    return list(RESOURCES[name]["schema"]["primaryKey"])


def distinct(name: str, field: str) -> list[str]:
    return list(dict.fromkeys(row[field] for row in rows(name)))


def cell(name: str, **where: str) -> str:
    (matches,) = [row for row in rows(name) if all(row[field] == value for field, value in where.items())]
    return matches["printed"]


def number(text: str) -> float | None:
    try:
        return parse(text).value
    except DataError:
        return None


def test_each_file_is_described_and_each_description_has_a_file() -> None:
    assert FILES
    assert sorted(RESOURCES) == FILES


@pytest.mark.parametrize("name", FILES)
def test_cells_carry_no_markup(name: str) -> None:
    marked = [
        text for row in rows(name) for text in row.values() if "**" in text or "`" in text or text != text.strip()
    ]
    assert marked == []


@pytest.mark.parametrize("name", FILES)
def test_metrics_have_units_and_ranges_name_metrics(name: str) -> None:
    if "printed" not in rows(name)[0]:
        assert "units" not in RESOURCES[name]
        return
    units, bounds = RESOURCES[name]["units"], RESOURCES[name].get("range", {})
    metrics = set(distinct(name, "metric")) if "metric" in rows(name)[0] else {"printed"}
    assert set(units) in (metrics, {"printed"})
    assert set(bounds) <= metrics


# These tables contain every combination of their keys.
GRIDS = (
    "nope_models nope_adjacency drope_disruption drope_disruption_texts_reported drope_knowledge_categories "
    "drope_sink_rates drope_bos_mlp drope_phase drope_functional drope_layer1_tasks drope_bos_write "
    "drope_ablation_comparison drope_layer1_perplexity drope_attention drope_attention_layer1 drope_context "
    "drope_verification drope_ranking drope_published_content drope_published_disruption_trials"
)


@pytest.mark.parametrize("name", GRIDS.split())
def test_grid_is_complete(name: str) -> None:
    expected = set(product(*(distinct(name, field) for field in key(name))))
    assert {tuple(row[field] for field in key(name)) for row in rows(name)} == expected


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("drope_massive_counts", "tensor"), ("drope_layer1_massive", "layers"), ("drope_crosslayer", "layers"),
        ("drope_layer1_content", ""), ("drope_layer1_norms", ""),
    ],
)  # fmt: skip
def test_comparisons_occur_once_beside_both_models(name: str, by: str) -> None:
    for group in distinct(name, by) if by else [""]:
        selected = [row for row in rows(name) if not by or row[by] == group]
        metrics = {
            positional: {row["metric"] for row in selected if row["positional"] == positional}
            for positional in ("RoPE", "DroPE")
        }
        compared = {metric for metric in metrics["DroPE"] if metric.endswith("_rope")}
        assert metrics["DroPE"] - compared == metrics["RoPE"]
        assert compared


def test_every_published_series_has_each_layer_once() -> None:
    layers: dict[tuple[str, ...], list[int]] = {}
    for row in rows("drope_published_series"):
        layers.setdefault((row["positional"], row["experiment"], row["metric"]), []).append(int(row["layer"]))
    assert all(numbers == list(range(32)) for numbers in layers.values())
    series = {(experiment, metric) for _, experiment, metric in layers}
    assert len(layers) == 2 * len(series)


def test_published_random_control_varies_and_massive_does_not() -> None:
    for positional in ("RoPE", "DroPE"):
        values = {
            metric: {
                row["printed"]
                for row in rows("drope_published_disruption_trials")
                if row["positional"] == positional and row["metric"] == metric
            }
            for metric in distinct("drope_published_disruption_trials", "metric")
        }
        assert len(values["massive_zeroed_ppl"]) == len(values["baseline_ppl"]) == 1
        assert len(values["random_zeroed_ppl"]) == len(distinct("drope_published_disruption_trials", "seed"))


def test_text_and_trial_files_agree_where_they_overlap() -> None:
    for row in rows("drope_published_disruption_texts"):
        if row["text"] == "literary":
            where = {field: row[field] for field in ("positional", "seed", "metric")}
            assert cell("drope_published_disruption_trials", **where) == row["printed"]


def test_series_of_a_figure_share_their_x_values() -> None:
    assert sorted(distinct("drope_figures", "figure")) == list("ABCDEFGHIJ")
    for figure in distinct("drope_figures", "figure"):
        points: dict[tuple[str, str], list[str]] = {}
        for row in rows("drope_figures"):
            if row["figure"] == figure:
                points.setdefault((row["series"], row["metric"]), []).append(row["x"])
        assert len({tuple(x_values) for x_values in points.values()}) == 1, figure
    assert [row["x"] for row in rows("drope_figures") if row["figure"] == "G" and row["series"] == "DroPE"] == [
        str(layer) for layer in range(32)
    ]


def test_every_figure_states_its_vertical_limits() -> None:
    for figure in distinct("drope_figures", "figure"):
        low, high = (number(cell("drope_figure_axes", figure=figure, element=element)) for element in ("ymin", "ymax"))
        assert low is not None
        assert high is not None
        assert low < high


def test_categories_of_answers_sum_to_the_stated_trials() -> None:
    trials = number(cell("drope_stated", statement="s11_5_trials"))
    for context in distinct("drope_errors", "context"):
        selected = [row for row in rows("drope_errors") if row["context"] == context]
        assert sum(int(row["printed"]) for row in selected if row["metric"] == "count") == trials
        assert sum(int(row["printed"].rstrip("%")) for row in selected if row["metric"] == "share") == 100


def test_layers_of_the_vision_model_match_the_printed_lists() -> None:
    kinds = {int(row["layer"]): row["kind"] for row in rows("nope_layer_kinds")}
    assert sorted(kinds) == list(range(int(cell("nope_facts", fact="layers"))))
    for fact, kind in (("self_attention", "self-attention"), ("cross_attention", "cross-attention")):
        listed: list[int] = []
        for part in cell("nope_facts", fact=f"{fact}_indices").split(", "):
            first, _, last = part.partition("–")
            listed += range(int(first), int(last or first) + 1)
        assert listed == [layer for layer, listed_kind in kinds.items() if listed_kind == kind]
        assert len(listed) == int(cell("nope_facts", fact=f"{fact}_layers"))


def test_adjacency_groups_have_the_counted_number_of_layers() -> None:
    listed = Counter(row["group"] for row in rows("nope_adjacency_layers"))
    assert listed == {group: int(cell("nope_adjacency", group=group, metric="layers")) for group in ("after", "before")}
    for group, step in (("after", -1), ("before", 1)):
        neighbours = [int(row["layer"]) + step for row in rows("nope_adjacency_layers") if row["group"] == group]
        kinds = {int(row["layer"]): row["kind"] for row in rows("nope_layer_kinds")}
        assert {kinds[layer] for layer in neighbours} == {"cross-attention"}


def test_landmarks_have_both_ends_of_a_range() -> None:
    ranged = [row for row in rows("delta_p_landmarks") if row["metric"].endswith(("_low", "_high"))]
    assert ranged
    for row in ranged:
        where = {field: row[field] for field in key("delta_p_landmarks") if field != "metric"}
        stem = row["metric"].rpartition("_")[0]
        low, high = (number(cell("delta_p_landmarks", metric=f"{stem}_{end}", **where)) for end in ("low", "high"))
        assert low is not None
        assert high is not None
        assert low < high


STATED = ["drope_stated", "drope_captions", "nope_stated", "delta_p_stated"]


def test_statements_have_one_key_in_all_files() -> None:
    counts = Counter(row["statement"] for name in STATED for row in rows(name))
    assert [statement for statement, times in counts.items() if times > 1] == []
    assert all(re.fullmatch(r"[a-z0-9_]+", statement) for statement in counts)


@pytest.mark.parametrize("name", [*STATED, "drope_summary_reported", "drope_tradeoff"])
def test_word_has_a_number_or_a_reason_and_a_number_has_neither(name: str) -> None:
    for row in rows(name):
        try:
            parse(row["printed"])
        except DataError:
            assert row["reason"]
        else:
            assert row["as_number"] == ""
            assert row["reason"] == ""


def test_statements_name_the_model_that_their_key_names() -> None:
    for row in rows("drope_stated") + rows("drope_captions"):
        named = {"drope": "DroPE", "rope": "RoPE"}.get(
            next(iter(re.findall(r"_(drope|rope)(?:_|$)", row["statement"])), "")
        )
        assert named is None or row["positional"] == named, row["statement"]


def test_places_of_these_documents_are_all_cited() -> None:
    with (ROOT / "artifacts/sources/places.csv").open(encoding="utf-8", newline="") as file:
        places = {row["source"]: row for row in csv.DictReader(file)}
    cited = {row["source"] for name in FILES for row in rows(name)}
    places_of_documents = {
        source
        for source, row in places.items()
        if row["document"] in ("000", "003", "004") or source.startswith("data/drope_")
    }
    scripts = {source for source in places if source.startswith("repo ")}
    assert cited - scripts == places_of_documents
    cited_elsewhere = {
        row["source"] for name in ("script_facts", "capture_settings", "analysed_heads") for row in rows(name)
    }
    assert scripts <= cited | cited_elsewhere
    assert all(places[source]["section"] for source in cited)


@pytest.mark.parametrize(
    ("name", "where", "printed"),
    [
        ("drope_massive_counts", {"tensor": "key", "positional": "DroPE", "metric": "count_sd"}, "74.1"),
        ("drope_disruption", {"positional": "RoPE", "metric": "mr_difference"}, "+115,929%"),
        ("drope_disruption_statistics", {"statistic": "independent_t_p"}, "< 10⁻⁸⁷"),
        ("drope_knowledge", {"positional": "DroPE", "task": "cities", "metric": "degradation"}, "−12.0%"),
        ("drope_functional", {"condition": "qk_disruption", "positional": "RoPE", "task": "imdb"}, "2%"),
        ("drope_layer1_perplexity", {"condition": "layer1_attn", "positional": "DroPE", "metric": "ppl"}, "3,557"),
        ("drope_sink_rates", {"layers": "2-30", "positional": "DroPE"}, "94-99%"),
        ("drope_figures", {"figure": "D", "series": "DroPE", "x": "IMDB"}, "-25"),
        ("drope_figures", {"figure": "I", "series": "Truncation", "x": "DroPE 2048"}, "45"),
        ("nope_recovery", {"model": "qwen3-4b", "metric": "recovery"}, "-0.041"),
        ("nope_extremes", {"layer": "0", "metric": "beta_norm"}, "0.000156"),
        ("delta_p_landmarks", {"model": "llama3.2-3b", "landmark": "lowest", "metric": "delta_p"}, "-70"),
    ],
)
def test_cells_read_as_printed(name: str, where: dict[str, str], printed: str) -> None:
    assert cell(name, **where) == printed
