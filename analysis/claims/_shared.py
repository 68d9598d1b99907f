"""Make verdicts and bounds that several claims share, on documents 001 and 002 or in several files on 004."""

from dataclasses import replace

import pandas as pd

from boundpaper.claims.judge import judge
from boundpaper.claims.verdict import ALPHA, Verdict
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed
from boundpaper.store.frames import pick

DECILE = 13107.2  # tokens per tenth of 131,072
USABLE = 10.0  # at this multiple of the baseline's perplexity a model is broken, so the removed part has a function


def tracks(tests: pd.DataFrame, comparison: str, *, what: str, reported: str = "") -> Verdict:
    """Judge whether two series over length move together, by first differences: any two declines do so in levels.

    Parameters
    ----------
    tests : DataFrame
        Tidy rows with the tests `pearson_levels` and `pearson_first_differences`.
    comparison : str
        Name of the compared series in `tests`.
    what : str
        The correlated quantities, in words, for the reason.
    reported : str
        The word that the source uses.
    """
    levels = pick(tests, comparison=comparison, test="pearson_levels")
    steps = pick(tests, comparison=comparison, test="pearson_first_differences")
    together = bool(steps["estimate"] > 0 and steps["p_value"] < ALPHA)
    return judge(
        together,
        f"{what} correlate in levels (r = {levels['estimate']:.2f}, n = {levels['n']}), as two declining series must; "
        f"their changes from length to length {'do too' if together else 'do not'} (r = {steps['estimate']:.2f}, exact "
        f"p = {steps['p_value']:.2f}, n = {steps['n']}).",
        otherwise="not supported",
        reported=reported,
        recomputed=f"r of changes {steps['estimate']:.2f}",
        n=int(steps["n"]),
        p_value=float(steps["p_value"]),
    )


def recovery_from(stated: pd.DataFrame, statement: str, recovered: pd.DataFrame) -> Verdict:
    """Judge whether the shallowest model that recovers has the stated number of text layers.

    Parameters
    ----------
    stated : DataFrame
        Values stated in prose.
    statement : str
        Key of the statement that gives the depth.
    recovered : DataFrame
        `nope_recovery_recomputed`: each captured model's recovery, with its rounding range, and number of layers.
    """
    row = pick(stated, statement=statement)
    recovering = recovered[recovered["recovery_low"] > 0]
    least = int(recovering["text_layers"].min())
    verdict = judge(
        stated_number(row) == least,
        f"{listed(list(recovering['display_name']))} recover; the shallowest has {least} layers of text.",
        reported=str(row["printed"]),
        recomputed=str(least),
        n=len(recovering),
    )
    return replace(verdict, kind="cell check")


def rising(decile_profiles: pd.DataFrame) -> tuple[int, str]:
    """Return the number of profiles that rise by more than rounding explains, and the models' names with the rise."""
    rows = decile_profiles[decile_profiles["rise_shown"].astype(bool)].sort_values("draw_up", ascending=False)
    return len(rows), listed([f"{row['display_name']} (+{row['draw_up']:.3f})" for _, row in rows.iterrows()])
