"""What the thesis says of the questions that source 001 leaves open, asked of its own tiny pair."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, judge, pick

NAMES = {"rope": "RoPE", "drope": "DroPE"}


def thesis_lab_plastic_heads(lab_head_ablations: pd.DataFrame) -> list[Verdict]:
    """Without its most plastic heads a tiny model retrieves fewer keys than without as many random ones, in every seed.

    Source: thesis, The same measurements on an open pair.
    """
    return [_ablated(lab_head_ablations, side, "highest", -1) for side in NAMES]


def thesis_lab_rigid_heads(lab_head_ablations: pd.DataFrame) -> list[Verdict]:
    """Without its least plastic heads a tiny model retrieves more keys than without as many random ones, in every seed.

    Source: thesis, The same measurements on an open pair.
    """
    return [_ablated(lab_head_ablations, side, "lowest", 1) for side in NAMES]


def _ablated(ablations: pd.DataFrame, side: str, rank: str, sign: int) -> Verdict:
    rows = ablations[
        (ablations["side"] == side) & (ablations["rank"] == rank) & (ablations["metric"] == "passkey_accuracy")
    ]
    rows = rows[rows["heads"] == rows["heads"].min()]
    kept = ", ".join(f"{100 * row['value']:.0f} against {100 * row['random']:.0f} %" for _, row in rows.iterrows())
    agree = rows["difference"] * sign > 0
    heads = int(rows["heads"].min())
    most, more = ("most", "fewer") if rank == "highest" else ("least", "more")
    return judge(
        bool(agree.all()),
        f"Without {heads} heads the {len(rows)} seeds retrieve {kept}, the second over {int(rows['draws'].min())} "
        "random draws.",
        otherwise="contradicted" if not agree.any() else "not supported",
        recomputed=f"{int(agree.sum())} of {len(rows)} seeds",
        n=len(rows),
        key=side,
        statement=(
            f"Without its {most} plastic heads the tiny {NAMES[side]} model retrieves {more} keys than without as many "
            "random ones, in every seed."
        ),
    )


def thesis_lab_text_matters(lab_text_differences: pd.DataFrame, lab_text_tests: pd.DataFrame) -> Verdict:
    """The plasticity of a model depends on the text that it is measured on: the two kinds differ in every tiny model.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_text_differences, metric="ap_overall")
    least = min(row["rope_least"], row["drope_least"])
    most = max(row["rope_most"], row["drope_most"])
    sure = lab_text_tests.loc[lab_text_tests["comparison"].str.contains(" ap_overall,"), "p_adjusted"] < 0.05
    return judge(
        bool(least > 0 or most < 0) and bool(sure.all()),
        f"Overall plasticity, {row['comparison']}, means over the same heads: {least:+.3f} to {most:+.3f} in the "
        f"models of {int(row['seeds'])} seeds; over heads, {int(sure.sum())} of {len(sure)} models differ after Holm's "
        "correction.",
        otherwise="not significant" if least > 0 or most < 0 else "not supported",
        recomputed=f"{least:+.3f} to {most:+.3f}",
        n=int(row["seeds"]),
    )


def thesis_lab_pairs_speak(lab_globality: pd.DataFrame) -> Verdict:
    """Heads whose pairs are more plastic change their heaviest key more often, in every tiny model.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_globality[lab_globality["comparison"].str.contains("(pearson)", regex=False)]
    sure = (rows["estimate"] > 0) & (rows["p_adjusted"] < 0.05)
    return judge(
        bool(sure.all()),
        f"Pearson's r over {int(rows['n'].min())} heads is {rows['estimate'].min():.2f} to "
        f"{rows['estimate'].max():.2f} in {len(rows)} models; the largest p after Holm's correction is "
        f"{rows['p_adjusted'].max():.2g}.",
        otherwise="not significant" if (rows["estimate"] > 0).all() else "not supported",
        recomputed=f"{rows['estimate'].min():.2f} to {rows['estimate'].max():.2f}",
        n=len(rows),
    )
