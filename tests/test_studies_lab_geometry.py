"""The head geometry of the tiny pair: seeds as the unit, verdicts from results, figures that show the right model."""

import numpy as np
import pandas as pd
import pytest
from analysis.lab.book import KINDS as KINDS_OF_TEXTS

from analysis.claims.thesis import lab_geometry as claims
from analysis.studies.lab.geometry import KINDS, MEANS, PER_SEED, lab_geometry, lab_geometry_seeds
from artifacts.errors import DataError
from figures._press.render import tex
from figures.lab import lab_components, lab_heatmap, lab_pca, lab_plane, lab_profiles, lab_rotation
from tables._press.render import render
from tables.lab import lab_geometry as geometry_table

MODELS = {f"tiny-{side}{seed}": (side, seed) for side in ("rope", "drope") for seed in ("", "-s1", "-s2")}
SETTINGS = {"context": 128, "estimator": "bucket_full", "pairs": "earlier", "bins": 4, "min_queries": 30}
LAYERS, HEADS = 2, 2
PLACES = [{"layer": layer, "head": head, "key_head": head} for layer in range(LAYERS) for head in range(HEADS)]


def means(drops):
    """Rows of `model_metrics`: what `drops` gives a model as its drop, a half for everything else."""
    rows = []
    for model, drop in drops.items():
        for name in dict.fromkeys([*MEANS, *PER_SEED]):
            value = drop if name == "ap_drop" else 0.5
            ends = {"ci_low": value - 0.01, "ci_high": value + 0.01, "heads": 4, "key_heads": 4, "reason": ""}
            rows.append({"model": model, "metric": name, "value": value, **ends, **SETTINGS})
    return pd.DataFrame(rows)


def heads(models=tuple(MODELS), kinds=KINDS[3:4]):
    """Rows of `head_metrics`: every RoPE head drifts, by turns forward and backward; DroPE heads hardly do."""
    rows = []
    for model in models:
        rope = "drope" not in model
        size = 0.9 if rope else 0.1 + 0.01 * len(model)
        for number, place in enumerate(PLACES):
            signed = size if number % 2 else -size
            values = dict.fromkeys(("r_k_a", "bias_strength", "bias_window", "pc0_r_q", "pc0_r_k"), signed)
            kind = KINDS[0] if rope else kinds[number % len(kinds)]
            rows.append({"model": model, **place, **values, "r_q_a": size, "pc0_kind": kind})
    return pd.DataFrame(rows)


FALLING = {model: 0.3 if side == "rope" else 0.05 for model, (side, _) in MODELS.items()}


def test_means_over_seeds_keep_what_signs_would_cancel():
    table = lab_geometry(means(FALLING), heads()).set_index("metric")
    assert table.loc["ap_drop", ["rope", "drope", "difference"]].tolist() == pytest.approx([0.3, 0.05, -0.25])
    assert table.loc["r_k_a_size", "rope"] == pytest.approx(0.9)
    sizes = [0.1 + 0.01 * len(model) for model in MODELS if "drope" in model]
    assert table.loc["bias_window_size", "drope"] == pytest.approx(np.mean(sizes))
    assert table.loc["bias_window_size", "drope_least"] == pytest.approx(min(sizes))
    assert table.loc["share_position-dominated", ["rope", "drope"]].tolist() == [1.0, 0.0]
    assert sum(table.loc[f"share_{kind}", "drope"] for kind in KINDS) == 1.0
    assert (table["seeds"] == 3).all()


def test_one_row_a_model_in_order():
    table = lab_geometry_seeds(pd.concat([means({"random-llama": 0.9}), means(FALLING)]))
    assert list(table["model"]) == [
        "tiny-rope",
        "tiny-drope",
        "tiny-rope-s1",
        "tiny-drope-s1",
        *list(table["model"])[4:],
    ]
    assert set(table["model"]) == set(MODELS)
    first = table.iloc[1]
    assert first[["ap_drop", "ap_drop_low", "ap_drop_high"]].tolist() == pytest.approx([0.05, 0.04, 0.06])
    assert (first["context"], first["heads"], first["reason"]) == (128, 4, "")


def test_what_cannot_be_compared():
    with pytest.raises(DataError, match="first component 'unheard', none of"):
        lab_geometry(means(FALLING), heads(kinds=("unheard",)))
    lacking = means(FALLING)
    with pytest.raises(DataError, match="lacks plane_var"):
        lab_geometry(lacking[lacking["metric"] != "plane_var"], heads())
    with pytest.raises(DataError, match=r"tiny-rope\.csv lacks r_q_a"):
        lab_geometry_seeds(lacking[~((lacking["model"] == "tiny-rope") & (lacking["metric"] == "r_q_a"))])
    mixed = means(FALLING)
    mixed.loc[mixed["model"] == "tiny-drope", "context"] = 256
    with pytest.raises(DataError, match="different settings"):
        lab_geometry_seeds(mixed)


def drops(rope, drope):
    """Drops of three seeds of either side, as `lab_geometry_seeds`."""
    names = zip(sorted(MODELS, key=lambda model: "drope" in model), [*rope, *drope], strict=True)
    return lab_geometry_seeds(means(dict(names)))


@pytest.mark.parametrize(
    ("rope", "drope", "falls", "flatter"),
    [
        ([0.2, 0.22, 0.18], [0.05, 0.06, 0.055], ["holds", "holds"], "holds"),
        ([0.2, 0.22, 0.18], [0.05, -0.4, 0.005], ["holds", "not supported"], "not supported"),
        ([0.2, 0.3, 0.005], [-0.3, -0.31, -0.32], ["not significant", "contradicted"], "contradicted"),
    ],
)
def test_verdicts_on_the_drop_follow_the_interval_over_seeds(rope, drope, falls, flatter):
    """Three seeds of one sign do not make it hold: the interval over them decides."""
    table = drops(rope, drope)
    means_ = lab_geometry(
        means({**dict(zip(sorted(MODELS, key=lambda m: "drope" in m), [*rope, *drope], strict=True))}), heads()
    )
    assert [verdict.verdict for verdict in claims.thesis_lab_plasticity_falls(table, means_)] == falls
    assert claims.thesis_lab_flatter(table).verdict == flatter


def test_verdicts_on_drift_and_kinds():
    def judged(kinds=KINDS[3:4], r_q=None):
        metrics = means(FALLING)
        for side, value in (r_q or {}).items():
            mine = metrics["model"].str.startswith(f"tiny-{side}") & (metrics["metric"] == "r_q_a")
            metrics.loc[mine, "value"] = value
        table = lab_geometry(metrics, heads(kinds=kinds))
        drift = {each.key: each.verdict for each in claims.thesis_lab_drift_shrinks(table)}
        return drift["queries"], claims.thesis_lab_no_positional_heads(table).verdict

    assert judged(r_q={"rope": [0.9, 0.8, 0.85], "drope": [0.1, 0.2, 0.1]}) == ("holds", "holds")
    assert judged(r_q={"rope": [0.1, 0.9, 0.5], "drope": [0.3, 0.2, 0.6]})[0] == "not significant"
    assert judged(kinds=(KINDS[3], KINDS[3], KINDS[3], KINDS[2]))[1] == "contradicted"


def test_one_seed_gives_no_interval():
    one = {model: drop for model, drop in FALLING.items() if model in ("tiny-rope", "tiny-drope")}
    table, rows = lab_geometry(means(one), heads(one)), lab_geometry_seeds(means(one))
    assert {each.verdict for each in claims.thesis_lab_drift_shrinks(table)} == {"not testable"}
    assert {each.verdict for each in claims.thesis_lab_plasticity_falls(rows, table)} == {"not testable"}
    assert claims.thesis_lab_flatter(rows).verdict == "holds"
    shown = render(geometry_table.table(table, rows), "lab_geometry", "markdown")
    assert "$n = 1$ (seed 0)" in shown
    assert "1 seeds with both: no interval" in shown


@pytest.fixture
def seeds():
    return lab_geometry_seeds(means(FALLING))


def per_head(rows):
    """Rows for the heads of both models that are drawn and, shifted, of a seed that is not."""
    models = {"tiny-rope": 0.0, "tiny-drope": 0.25, "tiny-rope-s1": 0.5}
    return pd.DataFrame(
        [{"model": model, **place, **row(shift)} for model, shift in models.items() for place in PLACES for row in rows]
    )


def test_captures_read_what_captions_say():
    assert KINDS_OF_TEXTS[0] == "mixed"  # documents as in training, which a capture reads unless told otherwise


def test_figures_show_seed_zero(seeds):
    profile = per_head([lambda s, b=b: {"bin": b, "plasticity": s + 0.1 * b, "pairs": 22 + b} for b in range(4)])
    shown = lab_profiles.figure(profile, seeds)
    assert [panel.title for panel in shown.panels] == ["RoPE", "DroPE"]
    assert shown.panels[0].series[0].x == (16.0, 48.0, 80.0, 112.0)
    assert shown.panels[1].series[0].lines[3] == pytest.approx((0.25, 0.35, 0.45, 0.55))
    assert "22 to 22 pairs" in shown.note
    assert "training seed 0" in shown.caption
    components = per_head([lambda s, d=d: {"dimension": d, "r2": s + 0.1 * d} for d in range(4)])
    shown = lab_components.figure(components, seeds)
    assert len(shown.panels[1].series[0].values) == len(PLACES)
    assert shown.panels[1].series[0].high == pytest.approx(0.55)  # of what is drawn, not of the third model
    assert "$i + 2$" in shown.caption
    spectrum = per_head(
        [lambda s, c=c: {"component": c, "explained": 0.5 - 0.1 * c, "r_q": s, "r_k": -s} for c in range(3)]
    )
    shown = lab_pca.figure(spectrum, seeds)
    assert shown.panels[1].series[1].y == (-0.25,) * 4
    assert tex(shown, "lab_pca")


def test_the_map_is_white_where_no_pair_is(seeds):
    cells = [(16.0, 16.0, 0.5), (16.0, 48.0, 0.6), (48.0, 48.0, 0.7)]
    rows = [
        {"model": model, "key_distance": x, "query_distance": y, "plasticity": value, "heads": 4, "pairs": 9}
        for model in ("tiny-rope", "tiny-drope")
        for x, y, value in cells
    ]
    shown = lab_heatmap.figure(pd.DataFrame(rows), seeds).panels[0].series[0]
    assert shown.x_edges == (0.0, 32.0, 64.0, 96.0, 128.0)
    assert shown.values[0] == (0.5, None, None, None)
    assert shown.values[1] == (0.6, 0.7, None, None)
    assert (shown.low, shown.high) == (0.5, 0.7)


def test_the_plane_and_the_rotation_are_drawn(seeds):
    points = per_head(
        [
            lambda s, p=p, r=r: {"side": r, "position": p, "a": s + p, "b": s - p}
            for p in (0, 127)
            for r in ("query", "key")
        ]
    )
    text = tex(lab_plane.figure(points, seeds), "lab_plane")
    assert text.count("\\nextgroupplot") == 6
    assert "layer 0, head 0" in text
    rotation = heads(["tiny-rope", "tiny-drope", "tiny-rope-s1"])
    shown = lab_rotation.figure(rotation, seeds)
    assert shown.panels[1].series[0].x == pytest.approx((-0.9, 0.9, -0.9, 0.9))
    assert shown.panels[1].x.threshold * 128 == shown.panels[2].x.threshold  # the same picture in another unit
    assert shown.panels[2].series[0].x == pytest.approx((-0.9, 0.9, -0.9, 0.9))
    assert shown.panels[0].y.low == pytest.approx(-0.9)
    assert tex(shown, "lab_rotation")


def test_figures_need_both_models(seeds):
    with pytest.raises(DataError, match="no row of tiny-drope"):
        lab_rotation.figure(heads(["tiny-rope"]), seeds)
    with pytest.raises(DataError, match="has no drope of training seed 0"):
        lab_rotation.figure(heads(), seeds[seeds["model"] != "tiny-drope"])


def test_the_table_says_its_unit(seeds):
    shown = geometry_table.table(lab_geometry(means(FALLING), heads()), seeds)
    rows = shown.rows.set_index("label")
    assert rows.loc["per token, absolute", "rope"] == pytest.approx(0.9)
    assert rows.loc["per window, absolute", "rope"] == pytest.approx(0.9)
    assert "$n = 3$ (seeds 0, 1 and 2)" in shown.caption
