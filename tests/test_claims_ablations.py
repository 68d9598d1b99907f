"""Ablations that a section cites or leaves out, on hand-made frames that make claims true or false."""

import pandas as pd
import pytest

from analysis.claims.thesis.ablations import thesis_ablations_both_sides
from analysis.studies.drope_sinks.ablation_sides import ablation_sides
from boundpaper.errors import DataError
from boundpaper.store.reader import read
from conftest import ROOT

MLP, ATTENTION, BOTH, FIRST = "layer1_mlp", "layer1_attn", "layer1_both", "layer1_bos_only"


def cited(*ablations, models=("RoPE", "DroPE")):
    rows = [("said", ablation, model, "9 1.1") for ablation in ablations for model in models]
    return pd.DataFrame(rows, columns=["statement", "ablation", "positional", "source"])


def effects(mlp=9.0, attention=0.01, both=6.0, first=8.0):
    rows = []
    for name, contrast in ((MLP, mlp), (ATTENTION, attention), (BOTH, both), (FIRST, first)):
        rows += [(name, "RoPE", 100 * contrast), (name, "DroPE", 100.0)]
    return pd.DataFrame(rows, columns=["condition", "positional", "ratio"])


TOKEN = pd.DataFrame(
    {"ablation": ["bos_mlp_spike_layer", "bos_value_all_layers", "bos_value_spike_layer"], "ratio": [1000.0, 1.2, 0.9]}
)


def judged(citations, **contrasts):
    return thesis_ablations_both_sides(ablation_sides(citations, effects(**contrasts), TOKEN))


@pytest.mark.parametrize(
    ("citations", "contrasts", "expected"),
    [
        (cited(ATTENTION), {}, "not supported"),
        (cited(MLP), {}, "not supported"),
        (cited(MLP, BOTH, FIRST), {}, "not supported"),
        (cited(MLP, ATTENTION), {}, "holds"),
        (cited(MLP), {"attention": 1.5}, "holds"),  # no clear side
        (cited(MLP), {"attention": 0.6}, "holds"),
        (cited(MLP), {"attention": 0.4}, "not supported"),
    ],
)
def test_section_must_cite_ablations_of_both_outcomes(citations, contrasts, expected):
    [verdict] = judged(citations, **contrasts)
    assert (verdict.key, verdict.verdict) == ("1.1_layer_1", expected)


def test_omitted_ablations_are_named_in_the_reason():
    [verdict] = judged(cited(ATTENTION))
    assert (
        "it turns for the MLP of layer 1 (9), all of layer 1 (6) and the first token in layer 1 (8)" in verdict.reason
    )
    assert verdict.failure == "control"


def test_effects_on_a_single_model_form_no_contrast():
    assert ablation_sides(cited(MLP, models=["RoPE"]), effects(), TOKEN).empty
    rows = ablation_sides(pd.concat([cited(ATTENTION), cited(MLP, models=["RoPE"])]), effects(), TOKEN)
    assert rows.loc[rows["cited"], "ablation"].tolist() == [ATTENTION]


def test_ablation_groups_are_judged_separately():
    verdicts = judged(cited(ATTENTION, "bos_mlp_spike_layer"))
    assert {verdict.key: verdict.verdict for verdict in verdicts} == {
        "1.1_layer_1": "not supported",
        "1.1_first_token": "holds",
    }


def test_an_ablation_of_no_group_is_refused():
    with pytest.raises(DataError, match="layer2_mlp, which no group"):
        ablation_sides(cited("layer2_mlp"), effects(), TOKEN)


def test_citations_refer_to_statements_of_the_document():
    citations, stated = read(ROOT, "ablation_citations"), read(ROOT, "drope_stated")
    known = stated.set_index("statement")["source"]
    assert set(citations["statement"]) <= set(known.index)
    assert (known[citations["statement"]].to_numpy() == citations["source"].to_numpy()).all()
    about = stated[stated["quantity"].str.contains("Perplexity ratio, layer-1|under BOS-MLP ablation")]
    perplexities = about[about["quantity"].str.startswith("Perplexity")]["statement"]
    again = {"s7_4_drope_mlp", "s7_4_rope_mlp_again"}  # equal to the printed ratio, or larger
    assert set(perplexities) - again <= set(citations["statement"])
