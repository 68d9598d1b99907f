"""Compare attention sinks with and without rotary positions: rates by layer, and uniform attention's sink score."""

import math
import re

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.errors import DataError
from boundpaper.statistics import frame, rounds_to, welch_t_from_stats
from boundpaper.statistics.families import corrected
from boundpaper.store.frames import pick

AVERAGE = "average"
SINKS, PATTERNS = "5 (sinks)", "8"  # sections of drope_protocols


def sink_rate_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return the published share of sink heads by layer in percent, the standard deviation over prompts, and the gap.

    `gap` is RoPE minus DroPE in percentage points.
    """
    series = drope_published_series[drope_published_series["metric"] == "sink_rate"]
    rates = 100 * series.pivot(index="layer", columns="positional", values="value")
    deviations = 100 * series.pivot(index="layer", columns="positional", values="std_over_prompts")
    table = pd.DataFrame({"layer": rates.index})
    for model in PAIR:
        table[model.lower()] = rates[model].to_numpy()
        table[f"{model.lower()}_sd"] = deviations[model].to_numpy()
    table["gap"] = table["rope"] - table["drope"]
    return table


def sink_rate_bands(sink_rate_layers: pd.DataFrame, drope_sink_rates: pd.DataFrame) -> pd.DataFrame:
    """Return the printed sink rates of a layer or a range of layers, with the published rates of these layers.

    `smallest` and `largest` are the extremes over the range's layers. `agreement` is "holds" if a printed number is
    the rounded mean, or a printed range the rounded extremes, else "contradicted".
    """
    rows = []
    for _, cell in drope_sink_rates.iterrows():
        first, last = _first_and_last_layer(str(cell["layers"]), sink_rate_layers)
        band = sink_rate_layers[sink_rate_layers["layer"].between(first, last)]
        rates = band[str(cell["positional"]).lower()]
        if pd.isna(cell["value"]):
            low, high = (int(end) for end in re.findall(r"\d+", str(cell["printed"])))
            agrees = rounds_to(rates.min(), low, 0) and rounds_to(rates.max(), high, 0)
        else:
            agrees = rounds_to(rates.mean(), float(cell["value"]), int(cell["decimals"]))
        rows.append(
            {
                "layers": cell["layers"],
                "positional": cell["positional"],
                "first_layer": first,
                "last_layer": last,
                "printed_text": cell["printed"],
                "mean": rates.mean(),
                "smallest": rates.min(),
                "largest": rates.max(),
                "agreement": "holds" if agrees else "contradicted",
            }
        )
    return pd.DataFrame(rows)


def _first_and_last_layer(layers: str, table: pd.DataFrame) -> tuple[int, int]:
    if layers == AVERAGE:
        return int(table["layer"].min()), int(table["layer"].max())
    first, _, last = layers.partition("-")
    return int(first), int(last or first)


def sink_rate_tests(
    sink_rate_layers: pd.DataFrame, drope_protocols: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Return Welch's t by layer from the published means and standard deviations over prompts; Holm over layers.

    The published deviations have the divisor n (`script_facts`, deviations_experiment_4): only with this divisor does
    DroPE's deviation in layer 1 fit eight prompts with ten sink heads and two with nine. They are rescaled to the
    divisor n - 1. Whether both models saw the same prompts is not stated.
    """
    n = _prompt_count(drope_protocols)
    scale = math.sqrt(n / (n - 1))
    tests = [
        welch_t_from_stats(
            *(row["rope"], row["rope_sd"] * scale, n),
            *(row["drope"], row["drope_sd"] * scale, n),
            study="sink_rate_tests",
            comparison=f"layer {row['layer']:.0f}",
            unit="prompt",
            note=(
                "percentage points, RoPE minus DroPE; prompts of both models taken as independent; the tests of all "
                "layers share the prompts"
            ),
            names=PAIR,
        )
        for _, row in sink_rate_layers.iterrows()
    ]
    return frame(corrected(tests, test_families, "sink_rate_tests"))


def _prompt_count(drope_protocols: pd.DataFrame) -> int:
    items = str(pick(drope_protocols, section=SINKS)["items"])
    match = re.match(r"(\d+) ", items)
    if not match:
        raise DataError(f"section {SINKS!r} lists {items!r}; begin this text with the number of prompts")
    return int(match[1])


def uniform_sink(drope_protocols: pd.DataFrame, drope_stated: pd.DataFrame) -> pd.DataFrame:
    """Return the sink score of uniform attention by prompt length T: H_T / T with H_T the T-th harmonic number.

    Query t attends to t tokens, with weight 1/t on the first; the mean over t = 1 ... T is the score of every head.
    `sink` says whether the score reaches the threshold; `later` is the mean without the first query, which can only
    attend to itself. `used_in` names the experiment whose scripts use prompts of this length.
    """
    threshold = float(pick(drope_stated, statement="s5_2_sink_threshold_code")["value"])
    ranges = {section: _prompt_lengths(drope_protocols, section) for section in (SINKS, PATTERNS)}
    rows = []
    for tokens in range(2, max(last for _, last in ranges.values()) + 1):
        harmonic = sum(1 / position for position in range(1, tokens + 1))
        sections = [section for section, (first, last) in ranges.items() if first <= tokens <= last]
        rows.append(
            {
                "tokens": tokens,
                "score": harmonic / tokens,
                "later": (harmonic - 1) / (tokens - 1),
                "threshold": threshold,
                "sink": harmonic / tokens >= threshold,
                "used_in": {SINKS: "sink rates", PATTERNS: "attention patterns"}[sections[0]] if sections else "none",
            }
        )
    return pd.DataFrame(rows)


def _prompt_lengths(drope_protocols: pd.DataFrame, section: str) -> tuple[int, int]:
    items = str(pick(drope_protocols, section=section)["items"])
    match = re.search(r"(?<!\d)(\d++)-(\d++) tokens", items)
    if not match:
        raise DataError(f"section {section!r} lists {items!r}; state a range of tokens")
    return int(match[1]), int(match[2])


def sink_summary(
    sink_rate_layers: pd.DataFrame, uniform_sink: pd.DataFrame, sink_rate_tests: pd.DataFrame
) -> pd.DataFrame:
    """Return summary numbers of the sink rates and of uniform attention, one per row."""
    layers = sink_rate_layers.set_index("layer")
    rate_prompts = uniform_sink[uniform_sink["used_in"] == "sink rates"]
    pattern_texts = uniform_sink[uniform_sink["used_in"] == "attention patterns"]
    high_in_both = layers[(layers["rope"] > 90) & (layers["drope"] > 90)]
    layers_apart = sink_rate_tests[sink_rate_tests["p_adjusted"] < 0.05]
    numbers = {
        "layers": len(layers),
        "layers_above_90_in_both": len(high_in_both),
        "rope_after_layer_1": layers.loc[2:, "rope"].mean(),
        "drope_after_layer_1": layers.loc[2:, "drope"].mean(),
        "gap_average": layers["gap"].mean(),
        "gap_layer_1": layers.loc[1, "gap"],
        "largest_gap_after_layer_1": layers.loc[2:, "gap"].abs().max(),
        "layers_apart": len(layers_apart),
        "layers_tested": int(sink_rate_tests["p_value"].notna().sum()),
        "shortest_prompt": rate_prompts["tokens"].min(),
        "longest_prompt": rate_prompts["tokens"].max(),
        "even_score_shortest": rate_prompts["score"].max(),
        "even_score_longest": rate_prompts["score"].min(),
        "longest_even_sink": uniform_sink.loc[uniform_sink["sink"], "tokens"].max(),
        "shortest_pattern_text": pattern_texts["tokens"].min(),
        "longest_pattern_text": pattern_texts["tokens"].max(),
        "even_score_shortest_pattern_text": pattern_texts["score"].max(),
        "even_score_longest_pattern_text": pattern_texts["score"].min(),
        "threshold": uniform_sink["threshold"].iloc[0],
    }
    return pd.DataFrame({"quantity": list(numbers), "value": [float(value) for value in numbers.values()]})
