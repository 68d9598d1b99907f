"""Compare dropping the rotation (arm C) with YaRN (arm B) by prompt length; post hoc except at one length."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.population._effects import corrected, effect_columns

OUTCOME = "keys_far_extended"  # far keys among questions asked under all encodings
C_ENCODINGS = ("own", "temperature")  # encodings of arm C, which has no rotation
YARN = "yarn"
COLUMNS = tuple("base multiple encoding dropped stretched difference low high seeds p p_least note".split())


def population_yarn(population_outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return far keys of C, with or without a temperature, minus those of B under YaRN, by base and prompt length.

    `dropped` and `stretched` are means over seeds that have both, and `difference` is the mean of C minus B with
    Student's interval. `p` is from exact sign flips over seeds, and `p_holm` is corrected over the lengths, for each
    base and temperature of C. C's temperature is the planned one, half of YaRN's in the exponent.
    """
    far_keys = population_outcomes[population_outcomes["outcome"] == OUTCOME]
    rows: list[dict[str, Any]] = []
    for _, group in far_keys.groupby(["base", "multiple"]):
        base, multiple = int(group["base"].iloc[0]), float(group["multiple"].iloc[0])
        by_seed = group.pivot_table(index="seed", columns=["arm", "encoding"], values="value")
        for encoding in C_ENCODINGS:
            if ("C", encoding) not in by_seed or ("B", YARN) not in by_seed:
                continue
            pairs = by_seed[[("C", encoding), ("B", YARN)]].dropna()
            gaps = (pairs.iloc[:, 0] - pairs.iloc[:, 1]).to_numpy(dtype=np.float64)
            if not len(gaps):
                continue
            effect = effect_columns(gaps)
            rows.append(
                {
                    "base": base,
                    "multiple": multiple,
                    "encoding": encoding,
                    "dropped": float(pairs.iloc[:, 0].mean()),
                    "stretched": float(pairs.iloc[:, 1].mean()),
                    **{name: effect[name] for name in ("difference", "low", "high")},
                    "seeds": len(gaps),
                    **{name: effect[name] for name in ("p", "p_least")},
                    "note": "" if effect["low"] is not None else "low, high: one seed has no interval",
                }
            )
    return corrected(pd.DataFrame(rows, columns=list(COLUMNS)), ["base", "encoding"])
