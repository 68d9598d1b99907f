"""Document 000, Finding 3: claims on which models recover, and whether family or depth explains it."""

import pandas as pd

from analysis.claims._shared import printed_text, rows_where
from boundpaper.claims import Verdict, claim, judge, pick, quote
from boundpaper.claims.words import listed

DEEP = 32  # layers
DIP = 4  # first decile in which the dip is looked for


@claim("000, Finding 3")
def c000_f3_only_two(nope_stated: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Verdict:
    """Only the two Llama models of 32 layers show a positive recovery."""
    models = nope_recovery_recomputed
    recovering = models[models["recovery_low"] > 0]
    stated_row = pick(nope_stated, statement="finding_3_positive_models")
    expected = rows_where(models, family="Llama 3", text_layers=DEEP)
    other_models = models.drop(recovering.index)
    return judge(
        set(recovering["model"]) == set(expected["model"]) and len(recovering) == stated_row["as_number"],
        f"Recomputed from the deciles of all {len(models)} captured models, {listed(list(recovering['display_name']))} "
        f"recover in the window, and the {len(other_models)} others reach {other_models['recovery'].max():+.3f} at "
        f"most; the two of {DEEP} layers share their text weights.",
        reported=str(stated_row["printed"]),
        recomputed=f"{len(recovering)} of {len(models)}",
        n=len(models),
    )


@claim("000, Finding 3")
def c000_f3_positive_depth(nope_stated: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Verdict:
    """The models that recover have 32 layers."""
    recovering = nope_recovery_recomputed[nope_recovery_recomputed["recovery_low"] > 0]
    depths = sorted(set(recovering["text_layers"].astype(int)))
    statement = quote(nope_stated, statement="finding_3_positive_depth")
    return judge(
        depths == [statement.number],
        f"{listed(list(recovering['display_name']))} have {listed([str(depth) for depth in depths])} layers of text.",
        reported=statement.printed,
        recomputed=listed([str(depth) for depth in depths]),
        n=len(recovering),
    )


@claim("000, Finding 3")
def c000_f3_monotone(nope_stated: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Verdict:
    """All models of the table except those that recover have monotone profiles."""
    models = nope_recovery_recomputed
    other_models = models[(models["agreement"] != "") & ~models["recovers"].astype(bool)]
    rising_models = other_models[other_models["shape"] == "rises"]
    unlisted_models = models[(models["agreement"] == "") & (models["shape"] != "falls")]
    phrases = [
        f"{row['display_name']} by {row['draw_up']:.3f} ({row['draw_up_low']:.3f} to {row['draw_up_high']:.3f}) at "
        f"{10 * row['rise_from']:.0f}-{10 * row['rise_to'] + 10:.0f} % of the context"
        for _, row in rising_models.iterrows()
    ]
    return judge(
        rising_models.empty,
        f"Of the {len(other_models)} others, {len(rising_models)} rise by more than the rounding of their deciles "
        f"explains: {listed(phrases)}; of the {int((models['agreement'] == '').sum())} captured models outside the "
        f"table, {listed(list(unlisted_models['display_name']))} may.",
        reported=printed_text(nope_stated, statement="finding_3_monotone_models"),
        recomputed=f"{len(other_models) - len(rising_models)} monotone",
        n=len(other_models),
    )


@claim("000, Finding 3")
def c000_f3_not_depth(nope_recovery_recomputed: pd.DataFrame, nope_stated: pd.DataFrame) -> Verdict:
    """Two models of 40 layers, Ministral-3-14B and Qwen3-14B, do not recover."""
    rows = [pick(nope_recovery_recomputed, model=model) for model in ("ministral3-14b", "qwen3-14b")]
    layers = [quote(nope_stated, statement=f"finding_3_{name}_layers").number for name in ("ministral", "qwen")]
    phrases = [
        f"{row['display_name']} of {row['layers']:.0f} layers {row['recovery']:+.3f} (draw-up {row['draw_up']:+.3f})"
        for row in rows
    ]
    return _judge_absence(
        rows, layers, f"In the fixed window, {listed(phrases)}; a draw-up above zero is a rise somewhere."
    )


@claim("000, Finding 3", failure="unit")
def c000_f3_depth_excluded(nope_recovery_recomputed: pd.DataFrame, nope_family_tests: pd.DataFrame) -> Verdict:
    """Two deep models of other families do not recover, which shows that depth is not what matters."""
    rows = nope_recovery_recomputed
    deep_networks = rows[rows["text_layers"] >= DEEP].drop_duplicates("network")
    llama = rows[rows["family"] == "Llama 3"].drop_duplicates("network")
    llama_test = pick(nope_family_tests, comparison="depth within Llama, all captured")
    deepest_llama = llama[llama["text_layers"] > DEEP]
    shallow_recovering = int((llama["recovers"] & (llama["text_layers"] < DEEP)).sum())
    deep_share = (
        f"{int(deep_networks['recovers'].sum())} of {len(deep_networks)} networks of {DEEP} layers or more recovers"
    )
    return judge(
        shallow_recovering > 0,
        (
            f"{shallow_recovering} of {len(llama)} Llama networks recover with fewer than {DEEP} layers, and "
            f"{deep_share}.",
            f"It shows that depth is not enough ({deep_share}), not that it plays no part: within Llama the deepest of "
            f"{len(llama)} networks recovers and no other (p = {llama_test['p_value']:.2f}, the smallest possible), "
            f"and the study itself asks for {DEEP} layers.",
        ),
        otherwise="not supported",
        reported="NOT a depth effect",
        recomputed=f"{len(deepest_llama)} Llama deeper than {DEEP}",
        n=len(llama),
        p_value=float(llama_test["p_value"]),
    )


@claim("000, Finding 3")
def c000_f3_smaller_llama(nope_recovery_recomputed: pd.DataFrame, nope_stated: pd.DataFrame) -> Verdict:
    """The smaller Llama models, of 16 and 28 layers, do not show the pattern."""
    rows = [pick(nope_recovery_recomputed, model=model) for model in ("llama3.2-1b", "llama3.2-3b")]
    layers = [quote(nope_stated, statement=f"finding_3_llama_{size}_layers").number for size in ("1b", "3b")]
    phrases = [
        f"{row['display_name']} ({row['layers']:.0f} layers) has a recovery of {row['recovery']:+.3f} and a draw-up of "
        f"{row['draw_up']:+.3f}"
        for row in rows
    ]
    has_other_shape = rows[0]["draw_up"] > 0 > rows[0]["recovery"] and rows[0]["rise_to"] < DIP
    shape_note = (
        "; the first rises before the window of the dip, so that its profile is not monotone but has no dip and "
        "recovery where the larger ones have."
    )
    return _judge_absence(rows, layers, listed(phrases) + (shape_note if has_other_shape else "."))


def _judge_absence(rows: list[pd.Series], layers: list[float], reason: str) -> Verdict:
    """Judge whether no model recovers and each has the stated number of layers."""
    return judge(
        all(row["recovery_high"] < 0 and row["layers"] == count for row, count in zip(rows, layers, strict=True)),
        reason,
        reported=" and ".join(f"{count:.0f}" for count in layers),
        recomputed=", ".join(f"{row['recovery']:+.3f}" for row in rows),
        n=len(rows),
    )


@claim("000, Finding 3", failure="unit")
def c000_f3_intersection(
    nope_stated: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame, nope_family_tests: pd.DataFrame
) -> Verdict:
    """The pattern is specific to Llama models with at least 32 layers."""
    condition = quote(nope_stated, statement="finding_3_depth_condition")
    depth = int(condition.number)
    rows = nope_recovery_recomputed
    llama_models = rows[rows["family"] == "Llama 3"]
    large_models = llama_models[llama_models["text_layers"] >= depth]
    shallow_names = list(
        llama_models.loc[llama_models["recovers"] & (llama_models["text_layers"] < depth), "display_name"]
    )
    network_count, deeper_count = large_models["network"].nunique(), int((large_models["text_layers"] > depth).sum())
    p_values = nope_family_tests[nope_family_tests["unit"] == "network"].set_index("comparison")["p_value"]
    p = float(p_values["Llama against others, all captured"])
    return judge(
        network_count > 1 and deeper_count > 0 and not shallow_names,
        f"Models with fewer than {depth} layers that recover: {listed(shallow_names)}."
        if shallow_names
        else f"The cell holds {network_count} network{'s' if network_count > 1 else ''} under {len(large_models)} "
        f"names, {deeper_count} of them deeper than {depth} layers; family alone gives Fisher p = {p:.2f} over "
        f"{rows['network'].nunique()} networks, and the smaller Llama models differ in size, width and training too.",
        otherwise="contradicted" if shallow_names else "not supported",
        failure="reading" if shallow_names else "",
        reported=condition.printed,
        recomputed=f"{network_count} network",
        n=network_count,
        p_value=p,
    )
