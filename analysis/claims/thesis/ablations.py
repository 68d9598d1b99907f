"""Claims of the thesis on the ablations that document 004 cites: whether sections cite both sides of their table."""

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
        sides = {name: set(part["side"]) & MODELS for name, part in (("all", rows), ("cited", rows[rows["cited"]]))}
        left = rows[~rows["cited"] & rows["side"].isin(sorted(sides["all"] - sides["cited"]))]
        complete = not sides["cited"] or left.empty
        cited_sections = listed(
            [f"{WORDS[row['ablation']]} ({row['contrast']:.3g})" for _, row in rows[rows["cited"]].iterrows()]
        )
        more = listed([f"{WORDS[row['ablation']]} ({row['contrast']:.3g})" for _, row in left.iterrows()])
        yield judge(
            complete,
            f"RoPE's effect over DroPE's is cited for {cited_sections}; "
            + ("no ablation of the table changes sides" if complete else f"it turns for {more}, left out")
            if len(sides["cited"]) < len(MODELS)
            else f"RoPE's effect over DroPE's is cited for {cited_sections}, on both sides of one",
            otherwise="not supported",
            failure="" if complete else "control",
            recomputed=f"{int(rows['cited'].sum())} of {len(rows)} ablations",
            n=len(rows),
            key=f"{section}_{str(group).removeprefix('the ')}".replace(" ", "_"),
            statement=f"Section {section} of the report cites both sides of the ablations of {group}.",
        )
