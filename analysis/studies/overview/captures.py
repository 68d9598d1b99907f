"""What the captures are samples of: heads, texts, and the rotation under which each model ran."""

from __future__ import annotations

import pandas as pd

from artifacts.errors import DataError


def capture_heads(capture_settings: pd.DataFrame, models: pd.DataFrame, nope_facts: pd.DataFrame) -> pd.DataFrame:
    """Query heads of each captured model and how many of them were sampled, scaling of the rotation, stated context.

    Heads of cross-attention layers do not attend to the text and are left out. `beyond` is the share of the captured
    window that lies beyond the context that the makers state, in percent.
    """
    crossed = nope_facts.set_index("fact")["value"]
    rows = []
    for _, setting in capture_settings.iterrows():
        (facts,) = models[models["model"] == setting["model"]].to_dict("records")
        layers = int(facts["layers"])
        if "cross-attention" in str(facts["attention"]):
            if layers != int(crossed["layers"]):
                raise DataError(f"{setting['model']} has {layers} layers, the study of it {int(crossed['layers'])}")
            layers = int(crossed["self_attention_layers"])
        heads, sampled = layers * int(facts["query_heads"]), int(setting["heads_sampled"])
        stated, captured = int(facts["claimed_context"]), int(setting["capture_tokens"])
        none = setting["scaling"] == "none"
        rows.append(
            {
                "model": setting["model"],
                "display_name": facts["display_name"],
                "family": facts["family"],
                "heads": heads,
                "sampled": sampled,
                "share": 100 * sampled / heads,
                "scaling": "none" if none else f"{NAMES[str(setting['scaling'])]}, {float(setting['factor']):g}×",
                "scaled_by": setting["scaled_by"],
                "original_positions": None if none else int(setting["original_positions"]),
                "stated": stated,
                "captured": captured,
                "beyond": 100 * max(0, captured - stated) / captured,
                "texts": setting["texts"],
                "note": "original_positions: no scaling" if none else "",
            }
        )
    return pd.DataFrame(rows).astype({"original_positions": "Int64"})


NAMES = {"yarn": "YaRN", "llama3": "Llama 3"}


def recalibration_tokens(drope_recalibration: pd.DataFrame) -> pd.DataFrame:
    """How many tokens of further training each recalibration of DroPE's authors is."""
    table = drope_recalibration
    tokens = table["steps"] * table["sequences"] * table["sequence_tokens"] / 1e9
    return table[["run", "model", "normalisation"]].assign(
        tokens_billion=tokens.astype(float), learning_rate=table["learning_rate"]
    )
