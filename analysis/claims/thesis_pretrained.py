"""What the thesis says of the pretrained models that it measured itself, judged from the measurements."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed, judge, pick

COMPARED = {"ap_overall": "overall plasticity", "ap_drop": "drop of plasticity", "plane_var": "variance in the plane"}
BESIDE = ("reported", "tiny")


def thesis_pretrained_falls(pretrained_geometry: pd.DataFrame) -> list[Verdict]:
    """Plasticity of a pretrained model falls from the first to the last fifth of the context.

    Source: thesis, Pretrained models.
    """
    found = []
    for model, row in _measured(pretrained_geometry, "ap_drop"):
        found.append(
            directed(
                float(row["value"]),
                (float(row["low"]), float(row["high"])),
                1,
                f"the first minus the last fifth is {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over "
                f"{int(row['n'])} key heads at {int(row['context'])} tokens",
                recomputed=float(row["value"]),
                n=int(row["n"]),
                key=model,
                statement=f"Plasticity of {row['label']} falls from the first to the last fifth of the context.",
            )
        )
    return found


def thesis_pretrained_drift(pretrained_geometry: pd.DataFrame) -> list[Verdict]:
    """Queries of a pretrained model go with position on their axis of drift, as those of the reported models do.

    Source: thesis, Pretrained models.
    """
    found = []
    for model, row in _measured(pretrained_geometry, "r_q_a"):
        least = float(pick(pretrained_geometry, metric="r_q_a", column="reported")["low"])
        found.append(
            directed(
                float(row["value"]),
                (float(row["low"]), float(row["high"])),
                1,
                f"the mean correlation is {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over "
                f"{int(row['n'])} key heads, and the least of the reported models is {least:.3f}",
                null=least,
                recomputed=float(row["value"]),
                n=int(row["n"]),
                key=model,
                statement=(
                    f"Queries of {row['label']} go with position on their axis of drift more than those of the "
                    "reported model in which they do least."
                ),
            )
        )
    return found


def thesis_pretrained_in_range(pretrained_geometry: pd.DataFrame) -> list[Verdict]:
    """Metrics of a pretrained model lie within the range of the reported models.

    Source: thesis, Pretrained models.
    """
    found = []
    for metric, words in COMPARED.items():
        range_ = pick(pretrained_geometry, metric=metric, column="reported")
        low, high = float(range_["low"]), float(range_["high"])
        for model, row in _measured(pretrained_geometry, metric):
            inside = low <= float(row["low"]) and float(row["high"]) <= high
            outside = float(row["high"]) < low or float(row["low"]) > high
            found.append(
                judge(
                    inside,
                    f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over {int(row['n'])} key heads; the "
                    f"{int(range_['n'])} reported models reach from {low:.3f} to {high:.3f}",
                    otherwise="contradicted" if outside else "not supported",
                    recomputed=float(row["value"]),
                    n=int(row["n"]),
                    key=f"{model}_{metric}",
                    statement=f"The {words} of {row['label']} lies within the range of the reported models.",
                )
            )
    return found


def _measured(geometry: pd.DataFrame, metric: str) -> list[tuple[str, pd.Series]]:
    rows = geometry[(geometry["metric"] == metric) & ~geometry["column"].isin(BESIDE)]
    return [(str(row["column"]), row) for _, row in rows.iterrows()]
