"""Tell which experiments of document 004 computed attention without rotation, and write the caveat on them."""

import pandas as pd


def is_unrotated(drope_attention_origins: pd.DataFrame, experiment: int) -> bool:
    """Return whether the printed attention of RoPE was computed from unrotated queries and keys."""
    rows = drope_attention_origins[
        (drope_attention_origins["experiment"].astype(str) == str(experiment))
        & (drope_attention_origins["positional"] == "RoPE")
        & (drope_attention_origins["run"] == "printed")
    ]
    return bool((rows["rotated"] == "no").any())


def caveat(drope_attention_origins: pd.DataFrame, experiment: int) -> str:
    """Return the caveat for a reason, or an empty text if the experiment rotated RoPE's queries and keys."""
    if not is_unrotated(drope_attention_origins, experiment):
        return ""
    return (
        f" The script of Experiment {experiment} multiplies queries and keys without rotating them, so its numbers for "
        "RoPE do not describe the model's attention."
    )
