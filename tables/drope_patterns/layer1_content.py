"""Output of layer 1: printed and published norms and shares, by definition and by kind of token."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, printed, significant

PRINTED = {
    "attention_output_norm": "attention output",
    "mlp_output_norm": "MLP output",
    "attention_contribution": "mean over texts of the ratio",
    "mlp_contribution": "the same for the MLP",
}
SCOPES = {
    "all tokens": "ratio of means, all tokens",
    "content tokens": "ratio of means, content tokens",
    "BOS": "ratio of means, BOS",
}


def table(
    drope_layer1_content: pd.DataFrame,
    layer1_ratios: pd.DataFrame,
    content_layers: pd.DataFrame,
    token_concentration: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Table:
    """Return the printed quantities, then the shares that the report does not print."""
    cells = drope_layer1_content.set_index(["metric", "positional"])["printed"]
    ratios = layer1_ratios.set_index("metric")
    rows = [
        {
            "group": "Norm" if metric.endswith("norm") else "Share of attention (or of the MLP), %",
            "name": name,
            "printed_rope": cells[(metric, "RoPE")],
            "printed_drope": cells[(metric, "DroPE")],
            "printed_ratio": cells[(f"{metric}_ratio_to_rope", "DroPE")],
            "rope": ratios["rope_published"][metric],
            "drope": ratios["drope_published"][metric],
            "ratio": ratios["ratio_published"][metric],
            "mark": "rounded" if metric == "attention_contribution" else "",
        }
        for metric, name in PRINTED.items()
    ]
    shares = content_layers[content_layers["layer"] == 1].set_index(["scope", "positional"])
    for scope, name in SCOPES.items():
        rope, drope = (shares["share"][(scope, model)] for model in PAIR)
        rows.append(
            {"group": rows[-1]["group"], "name": name, "rope": rope, "drope": drope, "ratio": drope / rope, "mark": ""}
        )
    rope, drope = (shares["share_of_update"][("all tokens", model)] for model in PAIR)
    rows.append(
        {
            "group": rows[-1]["group"],
            "name": "norm over that of the whole update",
            "rope": rope,
            "drope": drope,
            "ratio": drope / rope,
            "mark": "",
        }
    )
    is_mlp = (token_concentration["layer"] == 1) & (token_concentration["component"] == "mlp")
    concentration = token_concentration[is_mlp].set_index("positional")
    ratio = ratios.loc["attention_contribution"]
    unprinted = "The report prints no such share."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "Layer 1"),
            Column("printed_rope", "RoPE", printed(), group="Printed", missing=unprinted),
            Column("printed_drope", "DroPE", printed(), group="Printed", missing=unprinted),
            Column("printed_ratio", "ratio", printed(), group="Printed", mark="mark", missing=unprinted),
            Column("rope", "RoPE", fixed(2), group="Published"),
            Column("drope", "DroPE", fixed(2), group="Published"),
            Column("ratio", "ratio", significant(3), group="Published"),
        ],
        groups="group",
        units="group",
        marks={
            "rounded": (
                f"The quotient of the rounded shares; with one decimal they leave {ratio['ratio_low']:.0f} to "
                f"{ratio['ratio_high']:.0f} open, and the published ones give {ratio['ratio_published']:.1f}."
            )
        },
        caption=(
            "What attention and MLP write in layer 1: norms and shares of Section 9.3 of the report beside the "
            f"published values [@africa2026]. Unit: text; {drope_protocols.set_index('experiment')['items']['8']}."
        ),
        short="What attention and MLP write in layer 1",
        note=(
            f"The mean norm of the MLP rests on few tokens: of about {concentration['tokens'].mean():.0f} tokens of a "
            f"text, {concentration['effective_tokens']['RoPE']:.1f} in RoPE and "
            f"{concentration['effective_tokens']['DroPE']:.1f} in DroPE would give its mean and standard deviation if "
            "they shared the norm evenly (from means over texts, approximate)."
        ),
    )
