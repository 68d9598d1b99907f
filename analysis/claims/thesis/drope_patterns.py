"""Claims of the thesis on attention patterns, layer 1 and retrieval with rotary positions dropped."""

import pandas as pd

from analysis.claims._shared import rows_where
from analysis.vocabulary import PAIR
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import p


@claim("thesis, What removing rotary positions changes")
def thesis_layer1_attends_evenly(attention_layers: pd.DataFrame, uniform_bos_attention: pd.DataFrame) -> Verdict:
    """The attention to BOS given for layer 1 of either model is about that of a head that attends evenly."""
    layer = pick(attention_layers, layer=1)
    low, high = float(uniform_bos_attention["bos"].min()), float(uniform_bos_attention["bos"].max())
    return judge(
        all(low <= layer[f"bos_{model}"] <= high for model in ("rope", "drope")),
        f"RoPE {layer['bos_rope']:.1f} and DroPE {layer['bos_drope']:.1f} %; even attention gives {low:.1f} to "
        f"{high:.1f} % on {int(uniform_bos_attention['tokens'].max())} to {int(uniform_bos_attention['tokens'].min())} "
        "tokens. RoPE's attention is that of queries and keys without their rotation.",
        otherwise="not supported",
        recomputed=f"{layer['bos_rope']:.1f} and {layer['bos_drope']:.1f} %",
    )


@claim("thesis, What removing rotary positions changes")
def thesis_few_tokens_carry_the_mlp(token_concentration: pd.DataFrame) -> Verdict:
    """In layer 1, one or two tokens carry the mean norm of the MLP's output; most tokens carry that of attention."""
    rows = token_concentration[token_concentration["layer"] == 1]
    mlp, attention = (
        rows[rows["component"] == component].set_index("positional") for component in ("mlp", "attention")
    )
    return judge(
        bool((mlp["effective_tokens"] < 2.5).all() and (attention["effective_tokens"] > attention["tokens"] / 2).all()),
        f"Of about {rows['tokens'].mean():.0f} tokens, {mlp['effective_tokens']['RoPE']:.1f} in RoPE and "
        f"{mlp['effective_tokens']['DroPE']:.1f} in DroPE carry the MLP's mean, "
        f"{attention['effective_tokens']['RoPE']:.1f} and {attention['effective_tokens']['DroPE']:.1f} attention's; "
        "estimated from published means and deviations.",
        otherwise="not supported",
        recomputed=f"{mlp['effective_tokens']['RoPE']:.1f} and {mlp['effective_tokens']['DroPE']:.1f} tokens",
    )


@claim("thesis, What removing rotary positions changes")
def thesis_spike_written_in_layer1(content_layers: pd.DataFrame) -> Verdict:
    """In DroPE, as in RoPE, the MLP of layer 1 writes the large vector at BOS; the MLP of layer 2 does not."""
    rows = content_layers[content_layers["scope"] == "BOS"]
    norms = {
        model: [float(pick(rows, positional=model, layer=layer)["mlp_norm"]) for layer in (0, 1, 2)] for model in PAIR
    }
    return judge(
        all(layer1 > 5 * max(layer0, layer2) for layer0, layer1, layer2 in norms.values()),
        f"At BOS the MLP writes {norms['RoPE'][1]:.0f} in RoPE's layer 1 and {norms['DroPE'][1]:.0f} in DroPE's, but "
        f"{norms['RoPE'][2]:.1f} and {norms['DroPE'][2]:.1f} in layer 2.",
        recomputed=f"{norms['DroPE'][1]:.0f} against {norms['DroPE'][2]:.1f}",
    )


@claim("thesis, What removing rotary positions changes")
def thesis_digits_lost_in_runs(run_deletions: pd.DataFrame) -> Verdict:
    """The quoted deletions all hit a run of equal digits, more often than random deletions would."""
    row = run_deletions.iloc[0]
    return judge(
        row["in_run"] == row["examples"] and row["p_value"] < 0.05,
        f"{row['in_run']} of {row['examples']}, against {row['chance_in_run']:.0f} % of random places "
        f"({p(row['p_value'])}); the examples were chosen by the author, so this is a hint.",
        otherwise="not supported",
        recomputed=f"{row['in_run']} of {row['examples']}",
        n=int(row["examples"]),
        p_value=float(row["p_value"]),
    )


@claim("thesis, What removing rotary positions changes")
def thesis_share_is_of_content(content_layers: pd.DataFrame) -> Verdict:
    """Away from BOS, attention writes more than four fifths of the summed norm in DroPE's layer 1."""
    rows = rows_where(content_layers, layer=1, positional="DroPE").set_index("scope")
    return judge(
        rows["share"]["content tokens"] > 80,
        f"{rows['share']['content tokens']:.1f} % for content tokens, {rows['share']['BOS']:.1f} % at BOS, "
        f"{rows['share']['all tokens']:.1f} % for all.",
        recomputed=float(rows["share"]["content tokens"]),
    )


@claim("thesis, What removing rotary positions changes")
def thesis_figure_g_repeats(figure_g_layers: pd.DataFrame) -> Verdict:
    """Figure G of the report repeats four coordinates: from layer 8 on, each equals the one four layers before."""
    later_layers = figure_g_layers[figure_g_layers["layer"] >= 8]
    repeats = int(later_layers["repeats"].sum())
    return judge(
        repeats == len(later_layers),
        f"{repeats} of {len(later_layers)} coordinates of layers {later_layers['layer'].min()} to "
        f"{later_layers['layer'].max()} equal the one four layers before.",
        recomputed=f"{repeats} of {len(later_layers)}",
        n=len(later_layers),
    )
