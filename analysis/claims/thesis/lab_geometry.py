"""What the thesis says of the head geometry of its own tiny pair, judged from the measurements over training seeds."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed, judge, pick, untestable
from artifacts.errors import DataError

NAMES = {"rope": "RoPE", "drope": "DroPE"}
POSITIONAL = ("share_position-dominated", "share_Q-positional", "share_K-positional")


def thesis_lab_plasticity_falls(lab_geometry_seeds: pd.DataFrame, lab_geometry: pd.DataFrame) -> list[Verdict]:
    """Plasticity of the tiny model falls from the first to the last fifth of the context.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_geometry, metric="ap_drop")
    found = []
    for side, name in NAMES.items():
        statement = f"Plasticity of the tiny {name} model falls from the first to the last fifth of the context."
        if int(row["seeds"]) < 2:
            found.append(
                untestable("one training seed has no spread; a second would give one", key=side, statement=statement)
            )
            continue
        rows = lab_geometry_seeds[lab_geometry_seeds["side"] == side]
        drops = ", ".join(
            f"{each['ap_drop']:.3f} [{each['ap_drop_low']:.3f}, {each['ap_drop_high']:.3f}]"
            for _, each in rows.iterrows()
        )
        found.append(
            directed(
                float(row[side]),
                (float(row[f"{side}_low"]), float(row[f"{side}_high"])),
                1,
                f"the first minus the last fifth is {row[side]:.3f} [{row[f'{side}_low']:.3f}, "
                f"{row[f'{side}_high']:.3f}] over {int(row['seeds'])} seeds; {drops} over the key heads of each",
                recomputed=float(row[side]),
                n=int(row["seeds"]),
                key=side,
                statement=statement,
            )
        )
    return found


def thesis_lab_drift_shrinks(lab_geometry: pd.DataFrame) -> list[Verdict]:
    """Without the rotation, queries and keys of the tiny pair correlate less with position on their axis of drift.

    Source: thesis, The same measurements on an open pair.
    """
    found = []
    for metric, name in (("r_q_a", "queries"), ("r_k_a_size", "keys")):
        row = pick(lab_geometry, metric=metric)
        statement = (
            f"Without the rotation, {name} of the tiny pair correlate less with position on their axis of drift."
        )
        if int(row["seeds"]) < 2:
            found.append(
                untestable("one training seed has no spread; a second would give one", key=name, statement=statement)
            )
            continue
        found.append(
            directed(
                float(row["difference"]),
                (float(row["difference_low"]), float(row["difference_high"])),
                -1,
                f"the mean absolute correlation goes from {row['rope']:.2f} to {row['drope']:.2f}, difference "
                f"{row['difference']:.2f} [{row['difference_low']:.2f}, {row['difference_high']:.2f}] over "
                f"{int(row['seeds'])} seeds",
                recomputed=f"{row['difference']:.2f}",
                n=int(row["seeds"]),
                key=name,
                statement=statement,
            )
        )
    return found


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
