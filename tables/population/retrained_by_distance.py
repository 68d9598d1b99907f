"""Effect of exchanging two keys' positions, by distance of the keys, in the population beside untrained networks."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

QUANTITIES = {"sway": "Sway", "position_part": "Position part"}
ARMS = ("A", "B")
NULL = {"own_size": True, "positional": "rope", "estimator": "aligned_full", "width": 1}


def table(
    retrained_levels: pd.DataFrame,
    retrained_distances: pd.DataFrame,
    null_levels: pd.DataFrame,
    population_plan: pd.DataFrame,
    plasticity_settings: pd.DataFrame,
) -> Table:
    """Return one row per arm and key distance at the primary base; columns for the texts' first and last quarter."""
    base = str(population_plan.set_index("role").loc["primary", "base"])
    width = int(plasticity_settings.set_index("setting")["value"]["second_bin"])
    condition = "estimator == 'aligned_full' and texts == 'one' and weights == 'all'"
    levels = retrained_levels[retrained_levels["width"] == width].query(condition)
    places = {int(retrained_levels["low"].min()): "first", int(retrained_levels["low"].max()): "last"}
    longest = int(retrained_levels["high"].max())
    by_distance = retrained_distances[retrained_distances["apart_high"] < longest]
    by_distance = by_distance[(by_distance["away_low"] == 0) & (by_distance["away_high"] == longest)]
    values = pd.concat([levels.assign(apart_low=0, apart_high=longest), by_distance], ignore_index=True)
    values = values[(values["base"].astype(str) == base) & values["arm"].isin(ARMS)]
    values = values[values["quantity"].isin(QUANTITIES) & values["low"].isin(places)]
    cells = ["arm", "apart_low", "apart_high"]
    rows = values.pivot(index=cells, columns=["quantity", "low"], values=["value", "ci_low", "ci_high"])
    rows.columns = [f"{name[1]} {places[int(name[2])]} {name[0]}" for name in rows.columns]
    rows = rows.dropna().reset_index().sort_values(["arm", "apart_high", "apart_low"], ignore_index=True)
    rows["shown"] = [
        "any" if high == longest else f"{low} to {high} words"
        for low, high in zip(rows["apart_low"], rows["apart_high"], strict=True)
    ]
    rows["part"] = "Arm " + rows["arm"]
    null = null_levels[(null_levels[list(NULL)] == pd.Series(NULL)).all(axis=1) & (null_levels["quantity"] == "sway")]
    null_levels_by_place, seeds = null.set_index("place")["value"], int(by_distance["seeds"].max())
    columns = [
        Column(
            f"{quantity} {place} value", place, fixed(2), group=name,
            ci=(f"{quantity} {place} ci_low", f"{quantity} {place} ci_high"),
        )
        for quantity, name in QUANTITIES.items()
        for place in places.values()
    ]  # fmt: skip
    null_sways = [fixed(2).show(null_levels_by_place[place], "plain") for place in places.values()]
    return Table(
        rows=rows,
        columns=[Column("shown", "Keys apart"), *columns],
        groups="part",
        size="footnotesize",
        caption=(
            f"Exchange of positions by the distance between the two keys, base {base}, "
            f"{seeds} seeds: first training length of the texts and last of four. Unit: one seed; means over heads."
        ),
        short="Exchange of positions by the distance between the keys",
        note=(
            "Keys before late queries lie farther apart, so the row of any distance mixes distance with position. "
            "Distances that keys of the first training length cannot have are left out. At any distance, of keys "
            f"before the {null_levels['width'].max()} words of a bin and not {width}, networks of this size with "
            f"random weights have a sway of {null_sways[0]} in the first and {null_sways[1]} in the "
            f"last ({int(null['seeds'].max())} initialisations). Exploratory; intervals: Student's over seeds."
        ),
    )
