"""Compare dropping the rotation with keeping it: the DroPE report's Experiments 1-9, repeated on the population."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.population._effects import seed_interval
from analysis.studies.population._outcomes import records
from keyquery.measure.quantities import QUANTITIES

ARMS = {"start": "A", "kept": "B", "dropped": "C"}
BASE = 400  # the primary base
TWO_DIRECTIONS = ("first_mass", "first_attention")  # quantities for which the report states two directions
ANSWERS = ("yes", "opposite", "no", "two directions", "not measurable", "no direction", "not reported")


def population_experiments(
    population_quantities: pd.DataFrame, population_models: pd.DataFrame, experiments_reported: pd.DataFrame
) -> pd.DataFrame:
    """Return headline quantities over seeds, for starting models and those trained further with or without rotation.

    All trained models of the primary base are included, whether or not they met the criterion (post hoc). `difference`
    is dropped minus kept; `since_start` is dropped minus start, as in a comparison without the control; both are paired
    by seed, with Student's interval. `appears` and `appears_since_start` compare the interval with the reported
    direction: `yes` if it is on the reported side of zero, `opposite` if it is on the other side, `no` if it contains
    zero; `two directions` if the report has two quantities with opposite directions for one quantity here; `not
    measurable` if fewer than two seeds have the quantity in both arms, or all values are zero; `no direction` if the
    reported values are equal or not significantly different; `not reported` without reported values.
    """
    models = population_models[population_models["base"] == BASE]
    arms = {row.model: (row.arm, row.seed) for row in records(models)}
    quantities = population_quantities[population_quantities["model"].isin(list(arms))]
    quantities = quantities.assign(
        arm=[arms[name][0] for name in quantities["model"]], seed=[arms[name][1] for name in quantities["model"]]
    )
    reported_values = experiments_reported.set_index("quantity")
    rows = []
    for quantity in QUANTITIES:
        cells = quantities[quantities["quantity"] == quantity.key]
        source = reported_values.loc[quantity.key] if quantity.key in reported_values.index else None
        row: dict[str, Any] = {
            "quantity": quantity.key,
            "experiment": quantity.experiment,
            "label": quantity.label,
            "unit": quantity.unit,
            "digits": quantity.digits,
            "reported_rope": None if source is None else source["rope"],
            "reported_drope": None if source is None else source["drope"],
            "place": "" if source is None else source["place"],
            "direction": "" if source is None else source["direction"],
            "unreported": quantity.unreported,
            "caveat": quantity.caveat,
        }
        causes = cells["reason"].dropna().astype(str).str.split(":").str[0]
        counts = Counter(reason for reason in causes if reason)
        reasons = [
            reason if count == len(cells) else f"{reason} ({count} of {len(cells)} models)"
            for reason, count in sorted(counts.items())
        ]
        by_arm = {}
        for name, arm in ARMS.items():
            values = cells[cells["arm"] == arm].set_index("seed")["value"].dropna().astype(float).sort_index()
            by_arm[name] = values
            row[name] = values.mean() if len(values) else None
            row[f"{name}_least"], row[f"{name}_most"] = (values.min(), values.max()) if len(values) else (None, None)
        for name, control in (("difference", "kept"), ("since_start", "start")):
            pairs = (by_arm["dropped"] - by_arm[control]).dropna()
            gaps = np.asarray(pairs, dtype=np.float64)
            row[name] = gaps.mean() if len(gaps) else None
            row[f"{name}_low"], row[f"{name}_high"] = seed_interval(gaps)
            row["seeds" if name == "difference" else "seeds_since_start"] = len(gaps)
            if len(gaps) < 2:
                reasons.append(f"{name}: {len(gaps)} {'seed' if len(gaps) == 1 else 'seeds'} with both, no interval")
        row["appears"] = _direction_seen(row, "difference", by_arm["dropped"], by_arm["kept"])
        row["appears_since_start"] = _direction_seen(row, "since_start", by_arm["dropped"], by_arm["start"])
        if source is None:
            reasons.append(f"reported_rope, reported_drope: {quantity.unreported}")
        row["note"] = "; ".join(reasons)
        rows.append(row)
    return pd.DataFrame(rows)


def _direction_seen(row: dict[str, Any], name: str, *sides: pd.Series) -> str:
    if not row["direction"]:
        return "not reported"
    if row[f"{name}_low"] is None or not any(values.astype(bool).any() for values in sides):
        return "not measurable"
    if row["direction"] == "none":
        return "no direction"
    if row["quantity"] in TWO_DIRECTIONS:
        return "two directions"
    sign = 1 if row["direction"] == "higher" else -1
    low, high = sorted((sign * row[f"{name}_low"], sign * row[f"{name}_high"]))
    return "yes" if low > 0 else "opposite" if high < 0 else "no"


def population_directions(population_experiments: pd.DataFrame) -> pd.DataFrame:
    """Count headline quantities by whether the reported direction appears, against the control and against the start.

    `quantities` counts all, `decided` those with yes, no or opposite; further columns count each outcome; `seeds` is
    the largest number of seeds of a quantity.
    """
    rows = []
    for against, column, seeds in (("kept", "appears", "seeds"), ("start", "appears_since_start", "seeds_since_start")):
        answers = population_experiments[column]
        counts = {
            "quantities": len(answers),
            "decided": int(answers.isin(["yes", "no", "opposite"]).sum()),
            "seeds": int(population_experiments[seeds].max()),
            **{answer: int((answers == answer).sum()) for answer in ANSWERS},
        }
        rows += [{"against": against, "what": what, "count": count} for what, count in counts.items()]
    return pd.DataFrame(rows)
