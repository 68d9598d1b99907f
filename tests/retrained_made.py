"""Make tables of the retrained population with known effects, in the format of `lab population`."""

import numpy as np
import pandas as pd

from population_made import ARMS, population_tables, prompt_rows

PLASTICITY = {"A": (0.63, 0.56), "B": (0.63, 0.57), "C": (0.47, 0.55), "D": (0.5, 0.5), "E": (0.5, 0.5)}
SWAY = {"A": (0.2, 0.3), "B": (0.2, 0.3), "C": (0.0, 0.0), "D": (0.0, 0.0), "E": (0.0, 0.0)}
ALL_DISTANCES = {"apart_low": 0, "apart_high": 512, "away_low": 0, "away_high": 512}
FAR = {("B", "yarn", 0): 0.5, ("B", "yarn", 2): 0.7, ("C", "own", 0): 0.8, ("C", "own", 2): 0.9}
NOISE = 1e-3


def retrained(seeds=range(1, 9), bases=(400, 10_000), plasticity=PLASTICITY, sway=SWAY, missed=(), width_adds=0.0):
    """Return all tables by name. Plasticity and sway change linearly from the first quarter to the last.

    The cost of removing a head equals its plasticity. In arm B, the first head of a layer has a plasticity .1 lower
    than that of the other heads.
    """
    tables_of_run = population_tables(seeds=seeds, bases=bases, missed=missed)
    tables = {name.replace("population_", "retrained_"): table for name, table in tables_of_run.items()}
    tables["population_prompts"] = tables.pop("retrained_prompts")
    heads = tables["retrained_heads"]
    tables["retrained_heads"] = pd.concat(
        [heads.assign(estimator="aligned_full"), heads.assign(estimator="bucket_full", ap_overall=0.9)],
        ignore_index=True,
    )
    aligned, exchange, extensions = [], [], []
    for row in tables["retrained_models"].itertuples():
        rng = np.random.default_rng([row.seed, row.base, ord(row.arm)])
        for quarter in range(4):
            share = quarter / 3
            noise = NOISE * rng.normal()
            edges = {"low": 128 * quarter, "high": 128 * (quarter + 1)}
            for layer in range(5):
                for head in range(4):
                    labels = {"model": row.model, "layer": layer, "head": head, **edges, "reason": ""}
                    level = np.interp(share, (0, 1), plasticity[row.arm]) + noise
                    level += 0.0 if row.arm != "B" else -0.075 if head == 0 else 0.025
                    aligned += plasticity_rows(labels, level, row.arm in "AB", width_adds)
                    changed = np.interp(share, (0, 1), sway[row.arm]) + noise * (row.arm in "AB")
                    exchange += exchange_rows(labels, level, changed, row.arm, share)
        for (arm, encoding, temperature), value in FAR.items():
            if arm == row.arm:
                for multiple in (2.0, 4.0, 8.0):
                    prompts = prompt_rows(row.seed).query("multiple == @multiple").iloc[:40]
                    right = rng.random(len(prompts)) < value
                    extensions.append(
                        {
                            "model": row.model,
                            "encoding": encoding,
                            "temperature": temperature,
                            "multiple": multiple,
                            "asked": len(prompts),
                            "right": int(right.sum()),
                            "nats": 0.1,
                            "letters": "".join(np.where(right, "e", "o")),
                        }
                    )
    tables["retrained_aligned"] = pd.DataFrame(aligned)
    tables["retrained_exchange"] = pd.DataFrame(exchange)
    tables["retrained_extensions"] = pd.DataFrame(extensions)
    return tables


def plasticity_rows(labels, level, turns, width_adds):
    rows = []
    for width in (1, 2, 4, 8, 16):
        wider = np.log2(width)
        rows.append({**labels, "estimator": "aligned_full", "width": width, "plasticity": level + width_adds * wider})
        rows.append({**labels, "estimator": "bucket_full", "width": width, "plasticity": level + 0.04 * turns * wider})
    return rows


def exchange_rows(labels, level, changed, arm, share):
    rows = []
    for width, texts in ((16, "one"), (1, "one"), (16, "two")):
        cells = [ALL_DISTANCES]
        if (width, texts) == (16, "one"):
            cells += [
                {**ALL_DISTANCES, "apart_low": low, "apart_high": high} for low, high in ((0, 32), (32, 64), (256, 512))
            ]
        for cell in cells:
            rows.append(
                {
                    **labels,
                    **cell,
                    "width": width,
                    "texts": texts,
                    "pairs": 1000,
                    "plasticity": level,
                    "sway": changed,
                    "probability_change": changed,
                    "nearer_wins": 0.7 if arm not in "AB" else 0.54 - 0.1 * share,
                    "position_part": (0.2 - 0.5 * share) * (arm in "AB"),
                    "content_part": 0.6 - 0.1 * share,
                    "gap": 1.0,
                    "spread": 1.0,
                    "linear_share": 0.07 if arm in "AB" else 0.4,
                    "linear_slope": 0.0,
                }
            )
    return rows


__all__ = ["ARMS", "retrained"]
