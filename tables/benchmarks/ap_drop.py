"""Plasticity and the LongBench Pro score: the drop as printed and as recomputed, and its correlations."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import correlation_phrase
from tables._house import metric, model_footnotes, model_marks

COMPARED = ("ap_drop", "ap_last_20", "ap_overall")


def table(
    matched_models: pd.DataFrame, lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame
) -> Table:
    """Return one row per matched model."""
    longest = matched_models["captured_context"].max()
    is_half = matched_models["ap_drop_rounded"] != matched_models["ap_drop"]
    is_new = ~matched_models["in_source"].astype(bool)
    marks = model_marks(matched_models, longest)
    rows = matched_models.assign(
        mark=[",".join(filter(None, (mark, "added" if new else ""))) for mark, new in zip(marks, is_new, strict=True)],
        half=["half" if tied else "" for tied in is_half],
    )
    half_drops = [
        f"{fixed(4).show(row['ap_drop_recomputed'], 'plain')} of {row['display_name']}"
        for _, row in rows[is_half].iterrows()
    ]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("family", "Family"),
            Column("lbp", "LBP", fixed(2)),
            Column("ap_overall", "overall", fixed(4), group="Plasticity"),
            Column("ap_last_20", "last 20 %", fixed(4), group="Plasticity"),
            Column("ap_drop", "printed", fixed(3), group="Drop"),
            Column("ap_drop_recomputed", "recomputed", fixed(4), mark="half", group="Drop"),
        ],
        marks={
            **model_footnotes(rows, longest),
            "added": "Captured and scored, but not among the models that the study compares.",
            "half": (
                f"The difference of the printed ends, {' and '.join(half_drops)}, lies halfway between two printed "
                "drops; the study rounds it down, rounding halves up would print the next one. Both agree with the "
                "ends."
            ),
        },
        caption=(
            f"LongBench Pro (LBP) against plasticity, {len(rows)} models, in falling order of the score. Plasticity "
            "and drop from the observations and Table 1 of the study [@shcherb2026], scores without thinking from "
            "the benchmark [@longbenchpro2026]. Unit: one model."
        ),
        short="LongBench Pro against plasticity and its drop",
        note=[_correlations_sentence(lbp_correlations), _correlations_sentence(lbp_correlations_extended)],
    )


def _correlations_sentence(tests: pd.DataFrame) -> str:
    phrases = [
        f"{metric(name)} {correlation_phrase(pick(tests, comparison=name, test='pearson'))}" for name in COMPARED
    ]
    test = pick(tests, comparison="ap_drop", test="pearson")
    ranks = correlation_phrase(pick(tests, comparison="ap_drop", test="spearman"))
    family_size = str(test["adjustment"]).split(" over ")[1].split(" ")[0]
    return (
        f"Correlation with LBP over $n = {test['n']}$ models, Pearson with 95 % interval, exact permutation $p$ and "
        f"Holm's correction over {family_size} tests, all metrics by three coefficients: {'; '.join(phrases)}. "
        f"Spearman for the drop: {ranks}."
    )
