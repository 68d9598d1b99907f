"""What the thesis says of the questions that source 001 leaves open, asked of its own tiny pair."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed, pick

NAMES = {"rope": "RoPE", "drope": "DroPE"}


def thesis_lab_plastic_heads(lab_head_ablations: pd.DataFrame, lab_head_tests: pd.DataFrame) -> list[Verdict]:
    """Without its most plastic heads a tiny model retrieves fewer keys than without as many random ones.

    Source: thesis, The same measurements on an open pair.
    """
    return [_ablated(lab_head_ablations, lab_head_tests, side, "highest", -1) for side in NAMES]


def thesis_lab_rigid_heads(lab_head_ablations: pd.DataFrame, lab_head_tests: pd.DataFrame) -> list[Verdict]:
    """Without its least plastic heads a tiny model retrieves more keys than without as many random ones.

    Source: thesis, The same measurements on an open pair.
    """
    return [_ablated(lab_head_ablations, lab_head_tests, side, "lowest", 1) for side in NAMES]


def _ablated(ablations: pd.DataFrame, tests: pd.DataFrame, side: str, rank: str, sign: int) -> Verdict:
    """One side and end of the heads, by the interval over training seeds."""
    rows = ablations[
        (ablations["side"] == side) & (ablations["rank"] == rank) & (ablations["metric"] == "passkey_accuracy")
    ]
    rows = rows[rows["heads"] == rows["heads"].min()]
    kept = ", ".join(f"{100 * row['value']:.0f} against {100 * row['random']:.0f} %" for _, row in rows.iterrows())
    heads = int(rows["heads"].min())
    test = pick(tests, comparison=f"{side}, passkey_accuracy, {rank} {heads} heads - random")
    most, more = ("most", "fewer") if rank == "highest" else ("least", "more")
    return directed(
        100 * float(test["estimate"]),
        (100 * float(test["ci_low"]), 100 * float(test["ci_high"])),
        sign,
        f"Without {heads} heads the {len(rows)} seeds retrieve {kept}, the second over {int(rows['draws'].min())} "
        f"random draws; the difference is {100 * test['estimate']:+.0f} points [{100 * test['ci_low']:+.0f}, "
        f"{100 * test['ci_high']:+.0f}] (p = {test['p_value']:.3f}).",
        recomputed=f"{100 * test['estimate']:+.0f} points",
        n=int(test["n"]),
        p_value=float(test["p_value"]),
        failure="unit",
        key=side,
        statement=(
            f"Without its {most} plastic heads the tiny {NAMES[side]} model retrieves {more} keys than without as many "
            "random ones."
        ),
    )


def thesis_lab_text_matters(lab_text_differences: pd.DataFrame, lab_text_tests: pd.DataFrame) -> Verdict:
    """The plasticity of a model depends on the text that it is measured on: the two kinds differ in both tiny models.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_text_differences, metric="ap_overall")
    least = min(row["rope_least"], row["drope_least"])
    most = max(row["rope_most"], row["drope_most"])
    weaker = min(("rope", "drope"), key=lambda side: abs(row[side]) / (row[f"{side}_high"] - row[f"{side}_low"]))
    tests = lab_text_tests[lab_text_tests["comparison"].str.contains(" ap_overall,")]
    sides = tests[tests["unit"] == "training seed"]
    layers = tests[tests["unit"] == "layer"]
    together = int((layers["estimate"] * sides["estimate"].mean() > 0).sum())
    return directed(
        float(row[weaker]),
        (float(row[f"{weaker}_low"]), float(row[f"{weaker}_high"])),
        0,
        f"Overall plasticity, {row['comparison']}, means over the same heads: {least:+.3f} to {most:+.3f} in the "
        f"models of {int(row['seeds'])} seeds, in {NAMES[weaker]} {row[weaker]:+.3f} "
        f"[{row[f'{weaker}_low']:+.3f}, {row[f'{weaker}_high']:+.3f}] over them; with all "
        f"metrics of both sides its Holm p is {sides['p_adjusted'].max():.2g} at most, and the mean over layers has "
        f"this sign in {together} of {len(layers)} models.",
        recomputed=f"{least:+.3f} to {most:+.3f}",
        n=int(row["seeds"]),
    )


def thesis_lab_pairs_speak(lab_globality: pd.DataFrame) -> Verdict:
    """Heads whose pairs are more plastic change their heaviest key more often, in every tiny model.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_globality[lab_globality["test"] == "pearson_within_layer"]
    weakest = rows.sort_values("ci_low").iloc[0]
    return directed(
        float(weakest["estimate"]),
        (float(weakest["ci_low"]), float(weakest["ci_high"])),
        1,
        f"Inside layers, Pearson's r over {int(rows['n'].min())} heads is {rows['estimate'].min():.2f} to "
        f"{rows['estimate'].max():.2f} in {len(rows)} models; the largest p after Holm's correction is "
        f"{rows['p_adjusted'].max():.2g}.",
        p_value=float(rows["p_value"].max()),
        p_adjusted=float(rows["p_adjusted"].max()),
        recomputed=f"{rows['estimate'].min():.2f} to {rows['estimate'].max():.2f}",
        n=len(rows),
    )
