"""Describe the captures: sampled heads, texts, and the rotation with which each model ran."""

import random
from typing import Any

import pandas as pd

from boundpaper.errors import DataError


def capture_heads(
    capture_settings: pd.DataFrame, models: pd.DataFrame, nope_facts: pd.DataFrame, analysed_heads: pd.DataFrame
) -> pd.DataFrame:
    """Return each captured model's query heads, number of analysed heads, scaling of the rotation, and stated context.

    `drawn` is the number of heads that the capture's configuration requests; `sampled` is the number analysed,
    according to the author's notes or, for models missing from them, equal to `drawn`. Heads of cross-attention
    layers do not attend to the text and are excluded from `heads`. `beyond` is the share of the captured window
    beyond the context that the makers state, in percent.
    """
    vision_facts = nope_facts.set_index("fact")["value"]
    analysed = dict(zip(analysed_heads["model"], analysed_heads["query_heads"], strict=True))
    rows = []
    for _, setting in capture_settings.iterrows():
        facts = _model_row(models, setting["model"])
        layers = int(facts["layers"])
        if "cross-attention" in str(facts["attention"]):
            if layers != (count := int(vision_facts["layers"])):
                raise DataError(f"{setting['model']} has {layers} layers, but {count} in nope_facts; correct one")
            layers = int(vision_facts["self_attention_layers"])
        heads, drawn_count = layers * int(facts["query_heads"]), int(setting["heads_sampled"])
        sampled_count = int(analysed.get(setting["model"], drawn_count))
        stated_context, captured_context = int(facts["claimed_context"]), int(setting["capture_tokens"])
        is_unscaled = setting["scaling"] == "none"
        rows.append(
            {
                "model": setting["model"],
                "display_name": facts["display_name"],
                "family": facts["family"],
                "heads": heads,
                "drawn": drawn_count,
                "sampled": sampled_count,
                "share": 100 * sampled_count / heads,
                "scaling": "none"
                if is_unscaled
                else f"{NAMES[str(setting['scaling'])]}, {float(setting['factor']):g}×",
                "scaled_by": setting["scaled_by"],
                "original_positions": None if is_unscaled else int(setting["original_positions"]),
                "stated": stated_context,
                "captured": captured_context,
                "beyond": 100 * max(0, captured_context - stated_context) / captured_context,
                "texts": setting["texts"],
                "note": "original_positions: no scaling" if is_unscaled else "",
            }
        )
    return pd.DataFrame(rows).astype({"original_positions": "Int64"})


NAMES = {"yarn": "YaRN", "llama3": "Llama 3"}
CROSSED, PLAIN = "llama3.2-11b", "llama3.1-8b"  # the two captures of one text network


def twin_heads(capture_settings: pd.DataFrame, models: pd.DataFrame, nope_layer_kinds: pd.DataFrame) -> pd.DataFrame:
    """Return counts of the heads drawn in two captures of one text network, by repeating both draws.

    The capture draws its heads without replacement from all layers in order, with the seed of its configuration, by
    Python's `random.Random(seed).sample`. Heads of layers that do not run on text cannot be analysed and are removed
    afterwards. There is one row per quantity: `kept_crossed` and `kept_plain` (analysed heads of each), `common`
    (heads of the text network that both drew), `common_by_chance` (expected overlap of independent draws), and
    `heads` (of the text network). Raises DataError if the kinds of layers do not match the model with
    cross-attention, or the networks differ in size.
    """
    kinds = nope_layer_kinds.sort_values("layer")["kind"].tolist()
    layers = {key: int(_model_row(models, key)["layers"]) for key in (CROSSED, PLAIN)}
    text_layers = [index for index, kind in enumerate(kinds) if kind != "cross-attention"]
    if len(kinds) != layers[CROSSED] or len(text_layers) != layers[PLAIN]:
        raise DataError(
            f"nope_layer_kinds has {len(text_layers)} text layers ({len(kinds)} in all), but the table models has "
            f"{layers[PLAIN]} layers of {PLAIN} and {layers[CROSSED]} of {CROSSED}; correct one"
        )
    text_layer = {layer: index for index, layer in enumerate(text_layers)}
    heads_of = {key: _drawn_heads(key, capture_settings, models) for key in (CROSSED, PLAIN)}
    crossed = {(text_layer[layer], head) for layer, head in heads_of[CROSSED] if layer in text_layer}
    heads = layers[PLAIN] * int(_model_row(models, PLAIN)["query_heads"])
    counts = {
        "kept_crossed": len(crossed),
        "kept_plain": len(heads_of[PLAIN]),
        "common": len(crossed & heads_of[PLAIN]),
        "common_by_chance": len(crossed) * len(heads_of[PLAIN]) / heads,
        "heads": heads,
    }
    return pd.DataFrame({"quantity": list(counts), "value": [float(count) for count in counts.values()]})


def _model_row(table: pd.DataFrame, model: str) -> dict[str, Any]:
    """Return the row of a model, by column."""
    (row,) = table[table["model"] == model].to_dict("records")
    return {str(name): value for name, value in row.items()}


def _drawn_heads(model: str, capture_settings: pd.DataFrame, models: pd.DataFrame) -> frozenset[tuple[int, int]]:
    """Return the layers and heads that the capture of a model drew."""
    facts, setting = _model_row(models, model), _model_row(capture_settings, model)
    pairs = [(layer, head) for layer in range(int(facts["layers"])) for head in range(int(facts["query_heads"]))]
    return frozenset(random.Random(int(setting["seed"])).sample(pairs, int(setting["heads_sampled"])))


def recalibration_tokens(drope_recalibration: pd.DataFrame) -> pd.DataFrame:
    """Return the number of additional training tokens in each recalibration by DroPE's authors."""
    table = drope_recalibration
    tokens = table["steps"] * table["sequences"] * table["sequence_tokens"] / 1e9
    return table[["run", "model", "normalisation"]].assign(
        tokens_billion=tokens.astype(float), learning_rate=table["learning_rate"]
    )
