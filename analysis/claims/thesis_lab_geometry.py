"""What the thesis says of the head geometry of its own tiny pair, judged from the measurements over training seeds."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, judge, pick, untestable
from artifacts.errors import DataError

NAMES = {"rope": "RoPE", "drope": "DroPE"}
POSITIONAL = ("share_position-dominated", "share_Q-positional", "share_K-positional")


def thesis_lab_plasticity_falls(lab_geometry_seeds: pd.DataFrame) -> list[Verdict]:
    """Plasticity of the tiny model falls from the first to the last fifth of the context in every training seed.

    Source: thesis, The same measurements on an open pair.
    """
    found = []
    for side, name in NAMES.items():
        rows = lab_geometry_seeds[lab_geometry_seeds["side"] == side]
        drops = ", ".join(
            f"{row['ap_drop']:.3f} [{row['ap_drop_low']:.3f}, {row['ap_drop_high']:.3f}]" for _, row in rows.iterrows()
        )
        found.append(
            judge(
                bool((rows["ap_drop_low"] > 0).all()),
                f"the first minus the last fifth is {drops} in the {len(rows)} seeds, intervals over key heads",
                otherwise="contradicted" if (rows["ap_drop_high"] < 0).any() else "not significant",
                recomputed=float(rows["ap_drop"].mean()),
                n=len(rows),
                key=side,
                statement=(
                    f"Plasticity of the tiny {name} model falls from the first to the last fifth of the context in "
                    "every training seed."
                ),
            )
        )
    return found


def thesis_lab_drift_shrinks(lab_geometry: pd.DataFrame) -> Verdict:
    """Without the rotation, queries and keys of the tiny pair correlate less with position on their axis of drift.

    Source: thesis, The same measurements on an open pair.
    """
    queries, keys = (pick(lab_geometry, metric=name) for name in ("r_q_a", "r_k_a_size"))
    if int(queries["seeds"]) < 2:
        return untestable(f"{int(queries['seeds'])} training seed has both models; two or more would give an interval")
    low, high = ([float(row[f"difference_{end}"]) for row in (queries, keys)] for end in ("low", "high"))
    words = " and ".join(
        f"{row['rope']:.2f} to {row['drope']:.2f} for {name} (difference {row['difference']:.2f} "
        f"[{row['difference_low']:.2f}, {row['difference_high']:.2f}])"
        for row, name in ((queries, "queries"), (keys, "keys"))
    )
    return judge(
        max(high) < 0,
        f"the mean absolute correlation goes from {words}, over {int(queries['seeds'])} seeds",
        otherwise="contradicted" if max(low) > 0 else "not significant",
        recomputed=f"{queries['difference']:.2f} and {keys['difference']:.2f}",
        n=int(queries["seeds"]),
    )


def thesis_lab_no_positional_heads(lab_geometry: pd.DataFrame) -> Verdict:
    """After recalibration no head of the tiny pair has a first component that follows position, in any seed.

    Source: thesis, The same measurements on an open pair.
    """
    rows = [pick(lab_geometry, metric=name) for name in POSITIONAL]
    before, after = (sum(float(row[side]) for row in rows) for side in NAMES)
    return judge(
        all(float(row["drope_most"]) == 0 for row in rows),
        f"{before:.0%} of the heads with rotation and {after:.0%} of those without have a first component that follows "
        f"position in queries, keys or both, on average over {int(rows[0]['seeds'])} seeds",
        recomputed=after,
        n=int(rows[0]["seeds"]),
    )


def thesis_lab_flatter(lab_geometry_seeds: pd.DataFrame) -> Verdict:
    """Taking the rotation out of the tiny model brings the drop of plasticity nearer to zero in every seed.

    Source: thesis, The same measurements on an open pair.
    """
    table = lab_geometry_seeds.pivot(index="training_seed", columns="side", values="ap_drop").dropna()
    if table.empty:
        raise DataError("lab_geometry_seeds has no training seed with both models; measure the pair")
    nearer = table["drope"].abs() < table["rope"].abs()
    words = ", ".join(f"{row['rope']:.3f} to {row['drope']:.3f}" for _, row in table.iterrows())
    return judge(
        bool(nearer.all()),
        f"the drop goes from {words} in the {len(table)} seeds, nearer to zero in {int(nearer.sum())}",
        otherwise="not supported" if nearer.any() else "contradicted",
        recomputed=float((table["drope"].abs() - table["rope"].abs()).mean()),
        n=len(table),
    )
