"""A pretrained model whose texts begin with its beginning token or with a word: quantities, sweeps, and claims."""

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained import beginning as claims
from analysis.studies.pretrained import beginning
from analysis.studies.pretrained.beginning import RATE, pretrained_beginning, pretrained_sweeps
from boundpaper.errors import DataError
from boundpaper.figures.render import tex
from boundpaper.tables.render import render
from figures.pretrained import pretrained_sweeps as sweeps_figure
from keyquery.experiments.attention_patterns import UNROTATED
from tables.pretrained import pretrained_beginning as beginning_table

COLUMNS = ["model", "condition", "layer", "head", "unit_id", "metric", "value", "n", "reason"]
TEXTS = ("a", "b", "c")


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def patterns(model, first, unrotated):
    rows, step = [], 0.01 if model.endswith("-bos") else 0.005
    for number, text in enumerate(TEXTS):
        for metric in ("first_attention", "local_attention"):
            rows.append((model, "", None, None, text, metric, first + step * number, 4, ""))
            rows.append((model, UNROTATED, None, None, text, metric, unrotated + 0.02 * number, 4, ""))
    return rows


def costs(model, condition, value, layer=None, deviation=0.01):
    names = {"delta_nats": value, "delta_nats_sd": deviation}
    return [(model, condition, layer, None, "", metric, name, 3, "") for metric, name in names.items()]


def sinks(model, ratios=(1.0, 9.0), sweep=(0.1, 2.0), peaks=(8.0, 2.0), best=2.0, tokens=96):
    rows: list[tuple[object, ...]] = [
        (model, RATE, None, None, text, "sink_rate", 0.5 + 0.1 * place, 4, "") for place, text in enumerate(TEXTS)
    ]
    rows += [(model, "", layer, None, "", "first_ratio", ratio, 3, "") for layer, ratio in enumerate(ratios)]
    rows += [(model, f"T={tokens}", None, None, "", "uniform_null", 0.04, 3, "")]
    if model.endswith("-bos"):
        rows += costs(model, "bos_mlp_matching", 2.0, 1) + costs(model, "bos_mlp_best", best, 1)
        rows += [(model, "baseline", None, None, "", "bos_peak", max(ratios), 3, "")]
        for layer, (cost, peak) in enumerate(zip(sweep, peaks, strict=True)):
            rows += costs(model, "sweep_bos_mlp", cost, layer)
            rows += [(model, "sweep_bos_mlp", layer, None, "", "bos_peak", peak, 3, "")]
    else:
        for name in ("bos_mlp_matching", "bos_mlp_best"):
            rows += [(model, name, None, None, "", "delta_nats", None, 0, "no token in front")]
    return rows


def values(model, ratio=0.3):
    rows = [
        (model, "", None, None, text, "value_ratio", ratio + 0.01 * number, 4, "") for number, text in enumerate(TEXTS)
    ]
    if model.endswith("-bos"):
        rows += costs(model, "bos_value_all", 0.3) + costs(model, "bos_value_spike", 0.1, 1)
        return rows + costs(model, "sweep_bos_value", 0.05, 0) + costs(model, "sweep_bos_value", 0.2, 1)
    return rows


NAMES = {
    "pretrained_models": pd.DataFrame({"model": ["mine"], "display_name": ["Mine"]}),
    "subjects": pd.DataFrame({"model": ["mine"], "role": ["pretrained"]}),
}


def study(token=0.6, unrotated=0.2, ratio=0.3, **changes):
    return pretrained_beginning(
        attention_patterns=frame(patterns("mine-word", 0.4, 0.2) + patterns("mine-bos", token, unrotated)),
        sinks=frame(sinks("mine-word") + sinks("mine-bos", **changes)),
        bos_value=frame(values("mine-word") + values("mine-bos", ratio)),
        **NAMES,
    )


def sweeps(**changes):
    return pretrained_sweeps(sinks=frame(sinks("mine-bos", **changes)), bos_value=frame(values("mine-bos")), **NAMES)


def test_differences_are_by_text_and_costs_have_their_interval():
    result = study().set_index(["quantity", "start"])
    assert result.loc[("first_attention", "token"), "value"] == pytest.approx(61)
    assert result.loc[("first_attention", "difference"), "value"] == pytest.approx(20.5)
    assert result.loc[("first_change", "token"), "value"] == pytest.approx(-39)
    change = result.loc[("first_change", "token"), ["low", "high"]].tolist()
    assert change == pytest.approx([-39 - 4.30265 / 3**0.5, -39 + 4.30265 / 3**0.5], abs=1e-3)
    assert result.loc[("largest_ratio", "token"), "value"] == 9
    assert result.loc[("largest_ratio_layer", "token"), "value"] == 1
    assert result.loc[("mlp_matching", "token"), "layer"] == 1
    assert result.loc[("mlp_matching", "token"), "low"] == pytest.approx(2 - 4.30265 * 0.01 / 3**0.5, abs=1e-5)
    assert result.loc[("mlp_matching", "word"), "note"] == "no token in front"


def test_mismatched_texts_and_missing_beginnings_are_refused():
    with pytest.raises(DataError, match="sinks has no pretrained model measured with and without its beginning token"):
        pretrained_beginning(frame([]), frame(sinks("mine-bos")), frame([]), **NAMES)
    other = [tuple("z" if cell == "c" else cell for cell in row) for row in patterns("mine-word", 0.4, 0.2)]
    with pytest.raises(DataError, match="mine: texts with and without the beginning token differ"):
        pretrained_beginning(
            frame(other + patterns("mine-bos", 0.5, 0.2)),
            frame(sinks("mine-word") + sinks("mine-bos")),
            frame(values("mine-word") + values("mine-bos")),
            **NAMES,
        )
    with pytest.raises(DataError, match=r"attention_patterns/mine-word lacks first_attention per text"):
        pretrained_beginning(
            frame(patterns("mine-bos", 0.5, 0.2)), frame(sinks("mine-word") + sinks("mine-bos")), frame([]), **NAMES
        )
    with pytest.raises(DataError, match="no pretrained model with rows for every layer"):
        pretrained_sweeps(frame(sinks("mine-word")), frame(values("mine-word")), **NAMES)


def verdicts(claim, rows):
    return [each.verdict for each in claim(rows)]


def test_unrotated_condition_name_equals_that_of_the_experiment():
    assert beginning.UNROTATED == UNROTATED


def test_beginning_token_claims_are_judged_in_both_directions():
    baseline = study()
    assert verdicts(claims.thesis_beginning_token, baseline) == ["holds"]
    assert verdicts(claims.thesis_beginning_token, study(token=0.2)) == ["contradicted"]
    assert verdicts(claims.thesis_spike_cost, baseline) == ["holds"]
    assert verdicts(claims.thesis_spike_cost, study(best=-2.0)) == ["contradicted"]
    assert verdicts(claims.thesis_spike_cost, study(best=0.001)) == ["not significant"]
    assert verdicts(claims.thesis_drained_values, baseline) == ["holds"]
    assert verdicts(claims.thesis_drained_values, study(ratio=1.5)) == ["contradicted"]
    assert verdicts(claims.thesis_spike_mlp, sweeps()) == ["contradicted"]  # one layer alone
    assert verdicts(claims.thesis_spike_mlp, sweeps(peaks=(2.0, 2.0))) == ["holds"]
    assert verdicts(claims.thesis_spike_mlp, sweeps(peaks=(8.0, 7.0))) == ["contradicted"]


def test_missing_ablation_is_not_testable():
    rows = study()
    rows.loc[rows["quantity"] == "mlp_best", ["value", "low", "high", "note"]] = [None, None, None, "no spike"]
    [verdict] = claims.thesis_spike_cost(rows)
    assert (verdict.verdict, verdict.reason) == ("not testable", "no spike: a model or texts with it would decide it.")


def test_the_exhibits_show_both_beginnings_and_both_parts():
    table = render(beginning_table.table(study()), "beginning")
    assert "With its token" in table
    assert "61.0" in table
    assert "No token in front" in table
    assert "parts of 96 tokens" in table
    drawing = tex(sweeps_figure.figure(sweeps()), "sweeps")
    assert "MLP output zeroed" in str(drawing)
    assert "values zeroed" in str(drawing)
