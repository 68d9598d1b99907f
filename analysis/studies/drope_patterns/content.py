"""Analyse the first layers' outputs with and without rotary positions: norms, shares, and norms of Q, K and V."""

import numpy as np
import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.statistics import Interval
from boundpaper.store.frames import wide

SCOPES = {"all tokens": "mean", "BOS": "bos", "content tokens": "content"}
TENSORS = {"query": "q", "key": "k", "value": "v"}


def content_layers(drope_published_content: pd.DataFrame) -> pd.DataFrame:
    """Return output norms of attention and MLP in layers 0 to 2, for all tokens, BOS and content tokens.

    `share` is attention's part of the sum of both mean norms (a ratio of means), in percent. `share_per_text` is the
    mean of that ratio over texts, published for all tokens only, and `share_of_update` is attention's norm over the
    norm of the whole update. `cosine` is the cosine between both outputs, which may point in different directions.
    """
    table = wide(drope_published_content, by=["positional", "layer"])
    rows: list[dict[str, object]] = []
    for _, row in table.iterrows():
        for scope, name in SCOPES.items():
            attention, mlp = row[f"attn_output_norm_{name}"], row[f"mlp_output_norm_{name}"]
            is_all = scope == "all tokens"
            rows.append(
                {
                    "positional": row["positional"],
                    "layer": int(row["layer"]),
                    "scope": scope,
                    "attention_norm": attention,
                    "mlp_norm": mlp,
                    "share": 100 * attention / (attention + mlp),
                    "share_per_text": 100 * row["attn_contribution_frac"] if is_all else None,
                    "share_of_update": 100 * row["attn_frac_of_delta"] if is_all else None,
                    "cosine": row["attn_mlp_cosine_sim"] if is_all else None,
                    "note": "" if is_all else "share_per_text, share_of_update, cosine: published for all tokens only",
                }
            )
    return pd.DataFrame(rows)


def layer_norms(drope_published_content: pd.DataFrame) -> pd.DataFrame:
    """Return norms of queries, keys and values in layers 0 to 2, mean over tokens and at BOS, and DroPE/RoPE ratios."""
    table = wide(drope_published_content, by=["positional", "layer"]).set_index(["positional", "layer"])
    rows = []
    for layer in dict.fromkeys(drope_published_content["layer"]):
        for tensor, letter in TENSORS.items():
            row: dict[str, object] = {"layer": int(layer), "tensor": tensor}
            for scope in ("mean", "bos"):
                rope, drope = (float(table.loc[(model, layer), f"{letter}_norm_{scope}"]) for model in PAIR)
                row |= {f"{scope}_rope": rope, f"{scope}_drope": drope, f"{scope}_ratio": drope / rope}
            rows.append(row)
    return pd.DataFrame(rows)


def token_concentration(drope_published_content: pd.DataFrame) -> pd.DataFrame:
    """Return the effective number of tokens among which a layer's output norm is spread.

    For norms x over T tokens, the mean, the value at BOS and the mean over the others give
    T = (x_BOS - x_content) / (mean - x_content). Mean and standard deviation over tokens give
    (sum x)^2 / sum x^2 = T / (1 + (sd/mean)^2), the number of tokens that would give this spread if they shared the
    norm evenly and others had norm 0. `bos_share` is BOS's part of the sum in percent. The published numbers are
    means over texts, so all three are approximate.
    """
    table = wide(drope_published_content, by=["positional", "layer"])
    rows = []
    for _, row in table.iterrows():
        for component in ("attn", "mlp"):
            mean, spread, bos, content = (
                row[f"{component}_output_norm_{name}"] for name in ("mean", "std", "bos", "content")
            )
            tokens = (bos - content) / (mean - content)
            rows.append(
                {
                    "positional": row["positional"],
                    "layer": int(row["layer"]),
                    "component": "attention" if component == "attn" else "mlp",
                    "mean": mean,
                    "sd": spread,
                    "tokens": tokens,
                    "variation": spread / mean,
                    "effective_tokens": tokens / (1 + (spread / mean) ** 2),
                    "bos_share": 100 * bos / (tokens * mean),
                }
            )
    return pd.DataFrame(rows)


def layer1_ratios(
    drope_layer1_content: pd.DataFrame, drope_layer1_norms: pd.DataFrame, drope_published_content: pd.DataFrame
) -> pd.DataFrame:
    """Return layer 1's norms and shares, as printed and as published, with the ratio DroPE/RoPE of both.

    Shares are in percent, means over texts of the ratio. `ratio_from_printed` divides the printed cells, `ratio_low`
    and `ratio_high` are the range allowed by rounding; `ratio_published` divides the published values.
    """
    printed_rows = pd.concat([drope_layer1_content, drope_layer1_norms])
    cells = printed_rows.set_index(["positional", "metric"])[["value", "low", "high"]].to_dict("index")
    layer1 = wide(drope_published_content, by=["positional", "layer"])
    layer1 = layer1[layer1["layer"] == 1].set_index("positional")
    share = 100 * layer1["attn_contribution_frac"]
    published_values = {
        "attention_output_norm": layer1["attn_output_norm_mean"],
        "mlp_output_norm": layer1["mlp_output_norm_mean"],
        "attention_contribution": share,
        "mlp_contribution": 100 - share,
        "query_norm": layer1["q_norm_mean"],
        "key_norm": layer1["k_norm_mean"],
    }
    rows = []
    for metric, values in published_values.items():
        rope, drope = (cells[(model, metric)] for model in PAIR)
        interval = Interval(drope["low"], drope["high"]) / Interval(rope["low"], rope["high"])
        rows.append(
            {
                "metric": metric,
                "rope_printed": rope["value"],
                "drope_printed": drope["value"],
                "ratio_printed": cells[("DroPE", f"{metric}_ratio_to_rope")]["value"],
                "rope_published": values["RoPE"],
                "drope_published": values["DroPE"],
                "ratio_from_printed": drope["value"] / rope["value"],
                "ratio_low": interval.low,
                "ratio_high": interval.high,
                "ratio_published": values["DroPE"] / values["RoPE"],
            }
        )
    return pd.DataFrame(rows)


def attention_gain(layer1_ratios: pd.DataFrame, layer_norms: pd.DataFrame) -> pd.DataFrame:
    """Return DroPE's attention output norm in layer 1 over RoPE's, split into the ratio of value norms and the rest.

    Softmax weights sum to one, so a head's output before the output projection lies in the convex hull of its values:
    its norm cannot exceed the largest value norm, however sharp the weights are. `output_ratio` is DroPE's attention
    output over RoPE's, and `value_ratio` DroPE's mean value norm over RoPE's. `rest_ratio` is their quotient, which is
    due to sharper weights and the output projection; `share_of_log` is the values' share of the growth on a log scale.
    """
    output = float(layer1_ratios.set_index("metric")["ratio_published"]["attention_output_norm"])
    norms = layer_norms[layer_norms["layer"] == 1].set_index("tensor")["mean_ratio"]
    return pd.DataFrame(
        [
            {
                "layer": 1,
                "output_ratio": output,
                "value_ratio": norms["value"],
                "rest_ratio": output / norms["value"],
                "score_bound_ratio": norms["query"] * norms["key"],
                "share_of_log": 100 * np.log(norms["value"]) / np.log(output),
            }
        ]
    )
