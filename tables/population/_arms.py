"""Table of outcomes and head properties, by arm of the population."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

BASE = 400
ARMS = {
    "A": "rotation, from scratch",
    "B": "A, trained further with rotation",
    "C": "A, trained further without",
    "D": "A, a fifth of the steps without",
    "E": "without rotation, from scratch",
}
ROWS = (
    ("keys_all", 1.0, "Passkeys at the training length (%)", 100.0, 1),
    ("keys_far", 2.0, "Far passkeys at 2× (%)", 100.0, 1),
    ("keys_far", 4.0, "Far passkeys at 4× (%)", 100.0, 1),
    ("keys_far", 8.0, "Far passkeys at 8× (%)", 100.0, 1),
    ("facts_seen", 0.0, "Facts of the second phase (%)", 100.0, 1),
    ("facts_held", 0.0, "Facts held out of it (%)", 100.0, 1),
    ("text_loss", 1.0, "Text (nats per word)", 1.0, 2),
    ("ap_overall", 1.0, "Plasticity", 1.0, 2),
    ("ap_last_20", 1.0, "Late plasticity", 1.0, 2),
    ("ap_drop", 1.0, "Drop of plasticity (hundredths)", 1e2, 1),
    ("bias_strength", 1.0, "Bias a token (thousandths)", 1e3, 0),
    ("bias_window", 1.0, "Bias over the window", 1.0, 1),
    ("sink_backcopy_most", 1.0, "Largest sink", 1.0, 2),
    ("value_ratio_least", 1.0, "Least value of the first word", 1.0, 2),
)


def arms_table(population_outcomes: pd.DataFrame, letters: str, title: str, base: int = BASE) -> Table:
    """Return one row per outcome and one column per arm of `letters`: mean and range over seeds."""
    outcomes = population_outcomes[population_outcomes["base"].isin([0, base])]
    outcomes = outcomes[(outcomes["encoding"] == "own") & outcomes["arm"].isin(list(letters))]
    arms = sorted(outcomes["arm"].unique())
    rows = []
    for outcome, multiple, label, factor, digits in ROWS:
        cells = outcomes[(outcomes["outcome"] == outcome) & (outcomes["multiple"] == multiple)]
        row: dict[str, object] = {"what": label, "digits": digits}
        for arm in arms:
            values = factor * cells.loc[cells["arm"] == arm, "value"]
            row[arm] = float(values.mean()) if len(values) else None
            row[f"{arm}_low"] = float(values.min()) if len(values) else None
            row[f"{arm}_high"] = float(values.max()) if len(values) else None
        rows.append(row)
    counts = outcomes.groupby("arm")["seed"].nunique()
    seeds = ", ".join(f"{arm} {counts[arm]}" for arm in arms)
    models = outcomes.groupby("model")["counted"].first()
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("what", "Outcome"),
            *(Column(arm, arm, fixed(1), digits="digits", ci=(f"{arm}_low", f"{arm}_high")) for arm in arms),
        ],
        size="footnotesize",
        column_space=3.0,
        caption=f"{title} at base {base:,}: mean over seeds, and the smallest and largest seed.",
        short=title if base == BASE else f"{title} at base {base:,}",
        note=(
            f"Seeds: {seeds}; {int(models.sum())} of {len(models)} models count by the plan. "
            + ("E has no rotation, and so no base. " if "E" in arms else "")
            + "Brackets are ranges over seeds, not intervals. Far passkeys lie farther than one and a quarter training "
            "lengths from the question. Heads: means over the heads of a model (for the bias, of its size); sink and "
            "value are extremes over heads, on texts that repeat words after a sign."
        ),
    )
