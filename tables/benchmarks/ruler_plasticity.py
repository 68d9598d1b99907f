"""RULER and plasticity at the same lengths: levels, change since the shortest, and change from length to length."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, percent, signed
from boundpaper.typeset.wording import correlation_phrase

BEYOND = "longer than the captured context"


def table(ruler_lengths: pd.DataFrame, ruler_tests: pd.DataFrame) -> Table:
    """Return one row per model and length."""
    score = fixed(1)
    rows = ruler_lengths.assign(
        shown=ruler_lengths["length"].str.upper(), mark=["differs" if flag else "" for flag in ruler_lengths["differs"]]
    )
    is_shortest = rows["position"] == 0
    for name in ("ruler_change", "plasticity_change"):
        rows[name] = rows[name].where(~is_shortest)
    rows["note"] = ["the shortest length has none" if flag else BEYOND for flag in is_shortest]
    differing = rows[rows["differs"].astype(bool)]
    differences = [
        f"the study prints {score.show(printed, 'plain')}, the benchmark {score.show(published, 'plain')}"
        for printed, published in zip(differing["ruler_printed"], differing["ruler"], strict=True)
    ]
    names = rows.drop_duplicates("model").set_index("model")["display_name"]
    tests = [
        f"{name}: levels {correlation_phrase(pick(ruler_tests, comparison=model, test='pearson_levels'))}; "
        f"steps {correlation_phrase(pick(ruler_tests, comparison=model, test='pearson_first_differences'))}"
        for model, name in names.items()
    ]
    return Table(
        rows=rows,
        columns=[
            Column("shown", "Length", align="right"),
            Column("ruler", "score", fixed(1), mark="mark", group="RULER"),
            Column("ruler_change", "since 4K", percent(1, sign=True), group="RULER", reason="note"),
            Column("ruler_step", "step", signed(1), group="RULER", reason="note"),
            Column("plasticity", "value", fixed(3), group="Plasticity", reason="note"),
            Column("plasticity_change", "since 4K", percent(1, sign=True), group="Plasticity", reason="note"),
            Column("plasticity_step", "step", signed(3), group="Plasticity", reason="note"),
        ],
        groups="display_name",
        space=0,
        marks={"differs": f"Published score shown: {'; '.join(differences)}"},
        caption=(
            "RULER beside plasticity at the same input lengths, Table 8 of the study and its declines [@shcherb2026], "
            f"scores as published [@hsieh2024]. Unit: one length; {len(names)} models."
        ),
        short="RULER beside plasticity at the same input lengths",
        note=(
            "Step: change from the length before. Pearson's $r$ over lengths with 95 % interval and exact permutation "
            "$p$, "
            f"uncorrected. {'. '.join(tests)}. Points of one series are not independent, and two series that decline "
            "correlate in levels whatever their cause; only the steps tell whether they drop at the same lengths."
        ),
    )
