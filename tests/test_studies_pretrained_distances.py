"""Plasticity by key distance and query distance: included cells, fixed distances, claims, and figures."""

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained.distances import thesis_pretrained_distances
from analysis.studies.pretrained.distances import pretrained_map, pretrained_map_spans
from boundpaper.errors import DataError
from boundpaper.figures.check import check
from figures.pretrained import pretrained_map as map_figure
from figures.pretrained import pretrained_plane as plane_figure

NAMES = (
    pd.DataFrame({"model": ["mine"], "display_name": ["Mine"], "positions": [8192]}),
    pd.DataFrame({"model": ["mine"], "role": ["pretrained"], "label": [""], "pair": [""], "side": [""]}),
)


def pairs(key_slope=-0.3, query_slope=-0.05, model="mine"):
    """Return cells of three key and three query distances; a query distance is at least half the key distance."""
    rows = [
        (model, key, query, 0.7 + key_slope * key / 1280 + query_slope * query / 1280, 4, 4000)
        for key in (256.0, 768.0, 1280.0)
        for query in (256.0, 768.0, 1280.0)
        if query >= key / 2
    ]
    rows.append((model, 1792.0, 1280.0, 0.99, 4, 399))  # fewer than a hundred pairs per head
    return pd.DataFrame(rows, columns=["model", "key_distance", "query_distance", "plasticity", "heads", "pairs"])


def test_cells_with_few_pairs_and_other_models_are_excluded():
    actual = pretrained_map(pd.concat([pairs(), pairs(model="other")]), *NAMES)
    assert set(actual["model"]) == {"mine"}
    assert actual["key_distance"].max() == 1280
    assert len(actual) == 7
    with pytest.raises(DataError, match=r"head_pairs has no pretrained model with enough pairs; run: python"):
        pretrained_map(pairs(model="other"), *NAMES)


def test_spans_hold_one_distance_fixed_and_vary_the_other():
    spans = pretrained_map_spans(pretrained_map(pairs(), *NAMES)).set_index("held")
    assert spans.loc["key", ["at", "start", "end"]].tolist() == [256, 256, 1280]
    assert spans.loc["query", ["at", "start", "end"]].tolist() == [768, 256, 1280]
    assert spans.loc["key", "change"] == pytest.approx(-0.05 * 1024 / 1280)
    assert spans.loc["query", "change"] == pytest.approx(-0.3 * 1024 / 1280)


@pytest.mark.parametrize(
    ("key_slope", "query_slope", "verdict"),
    [(-0.3, -0.05, "holds"), (-0.05, -0.3, "contradicted"), (0.3, 0.2, "not supported"), (0.3, -0.1, "contradicted")],
)
def test_distances_claim_is_judged_in_both_directions(key_slope, query_slope, verdict):
    [judged] = thesis_pretrained_distances(pretrained_map_spans(pretrained_map(pairs(key_slope, query_slope), *NAMES)))
    assert (judged.key, judged.verdict) == ("mine", verdict)


def test_figures_accept_any_map_and_any_heads():
    drawing = map_figure.figure(pretrained_map(pairs(), *NAMES))
    check(drawing, "pretrained_map")
    [panel] = drawing.panels
    assert vars(panel.series[0])["values"][0][2] is None  # no query this near has keys so far apart
    vectors = pd.DataFrame(
        [
            (model, layer, 0, point, side, 100 * point, 1.0 * point, layer * 1.0)
            for model, layers in (("mine", 5), ("other", 2))
            for layer in range(layers)
            for point in range(4)
            for side in ("query", "key")
        ],
        columns=["model", "layer", "head", "point", "side", "position", "a", "b"],
    )
    columns = pd.DataFrame({"column": ["reported", "other", "mine"], "label": ["R", "Other", "Mine"], "n": [99, 3, 90]})
    plane = plane_figure.figure(vectors, columns)
    check(plane, "pretrained_plane")
    assert [panel.title for panel in plane.panels] == [f"layer {layer}, head 0" for layer in (0, 1, 3, 4)]
    assert len(plane.panels[0].series) == 4
    assert "four heads of Mine" in plane.caption
