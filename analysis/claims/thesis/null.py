"""Claims of the thesis on its null reference, a network with random weights."""

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, pick


@claim("thesis, Attention plasticity across models")
def thesis_null_falls(measured_models: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """In a network with random weights plasticity falls along the context too, by an amount inside the reported
    range.
    """
    row = pick(measured_models, model="random-llama")
    low, high = captured_models["ap_drop"].min(), captured_models["ap_drop"].max()
    return judge(
        bool(row["ap_drop_low"] > 0 and low <= row["ap_drop"] <= high),
        f"Its drop is {row['ap_drop']:.3f} [{row['ap_drop_low']:.3f}, {row['ap_drop_high']:.3f}] over "
        f"{row['captured_context']} tokens; the {len(captured_models)} reported ones run from {low:.3f} to {high:.3f}.",
        otherwise="contradicted",
        recomputed=f"{row['ap_drop']:.3f}",
        n=int(row["heads"]),
        ci=(float(row["ap_drop_low"]), float(row["ap_drop_high"])),
    )
