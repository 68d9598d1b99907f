"""Claims of the thesis on which ablations of a table the sections of document 004 cite, and which they leave out."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge
from boundpaper.claims.words import listed

WORDS = {
    "layer1_mlp": "the MLP of layer 1",
    "layer1_attn": "the attention of layer 1",
    "layer1_both": "all of layer 1",
    "layer1_bos_only": "the first token in layer 1",
    "bos_mlp_spike_layer": "the first token's MLP output at the spike",
    "bos_value_all_layers": "the first token's values in all layers",
    "bos_value_spike_layer": "the first token's values at the spike",
}
MODELS = {"RoPE", "DroPE"}


@claim("thesis, Sinks, the first token, and layer 1", severity="detail")
def thesis_ablations_both_sides(ablation_sides: pd.DataFrame) -> Iterator[Verdict]:
    """If one ablation hurts RoPE more and another hurts DroPE more, a section that contrasts the models cites both."""
    for (section, group), rows in ablation_sides.groupby(["section", "group"], sort=False):
        cited_rows = rows[rows["cited"]]
        sides, cited_sides = (set(ablations["side"]) & MODELS for ablations in (rows, cited_rows))
        left_out = rows[~rows["cited"] & rows["side"].isin(sorted(sides - cited_sides))]
        is_complete = not cited_sides or left_out.empty
        cited_in_words, left_out_in_words = (
            listed([f"{WORDS[row['ablation']]} ({row['contrast']:.3g})" for _, row in ablations.iterrows()])
            for ablations in (cited_rows, left_out)
        )
        yield judge(
            is_complete,
            f"RoPE's effect over DroPE's is cited for {cited_in_words}; "
            + (
                "no ablation of the table changes sides"
                if is_complete
                else f"it turns for {left_out_in_words}, left out"
            )
            if len(cited_sides) < len(MODELS)
            else f"RoPE's effect over DroPE's is cited for {cited_in_words}, on both sides of one",
            otherwise="not supported",
            failure="" if is_complete else "control",
            recomputed=f"{len(cited_rows)} of {len(rows)} ablations",
            n=len(rows),
            key=f"{section}_{str(group).removeprefix('the ')}".replace(" ", "_"),
            statement=f"Section {section} of the report cites both sides of the ablations of {group}.",
        )
