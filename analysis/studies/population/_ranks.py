"""Compute rank correlations within seeds and within layers, with exact tests, and a mixed model for comparison."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from analysis.studies.population._effects import FloatArray, corrected, effect_columns, seed_interval
from analysis.studies.population._outcomes import ABSOLUTE_METRICS, counted_by_plan, records
from boundpaper.statistics.locations.permutation import permutation_p

BLOCKED = "model with seed as block"
OF_HEADS = "head in layer in model"
_SEED_COLUMNS = ("low", "high", "least", "most", "p", "p_least")
_HEAD_COLUMNS = ("rho", *_SEED_COLUMNS, "slope", "slope_low", "slope_high")
NO_SLOPE = (None, None, None, "no mixed model")
FEWEST_MODELS = 3  # least number of models per seed for a rank correlation

IntArray = npt.NDArray[np.int64]


def relation_rows(
    plans: pd.DataFrame, outcomes: pd.DataFrame, bases: Sequence[int], slopes: bool = True
) -> pd.DataFrame:
    """Return the rows of the result `population_relations` over the models of `bases`.

    Without `slopes`, no mixed model is fitted, which saves most of the time.
    """
    rows = []
    for plan in records(plans[plans["unit"] == BLOCKED]):
        table = _metric_and_decline(outcomes, str(plan.outcome), bases)
        sizes = table.groupby("seed")["model"].transform("size")
        table = table[sizes >= FEWEST_MODELS].reset_index(drop=True)
        row: dict[str, object] = {"item": plan.item, "family": plan.family, "outcome": plan.outcome}
        row |= {"models": len(table), "seeds": table["seed"].nunique()}
        if table.empty:
            no_values = dict.fromkeys(("rho", "low", "high", "p", "p_least", "slope", "slope_low", "slope_high"))
            rows.append({**row, **no_values, "note": f"no seed with {FEWEST_MODELS} models yet"})
            continue
        blocks = [np.flatnonzero(table["seed"] == seed).astype(np.int64) for seed in sorted(table["seed"].unique())]
        x, y = (_ranks_within_blocks(table[name].to_numpy(dtype=float), blocks) for name in ("x", "y"))
        count = len(blocks)
        rhos = np.array([float((x[block] * y[block]).sum()) for block in blocks])
        rho = float(rhos.mean())
        interval = seed_interval(rhos)
        test = permutation_p(rho, _correlation_by_order(x, y, count), blocks)
        slope, low, high, note = _mixed_model_slope(table["x"], table["y"], table["seed"]) if slopes else NO_SLOPE
        row |= {"rho": rho, "low": interval[0], "high": interval[1], "p": test.p_value, "p_least": test.smallest}
        rows.append({**row, "slope": slope, "slope_low": low, "slope_high": high, "note": _note_on_seeds(count, note)})
    return _corrected_table(rows)


def head_damage_rows(plans: pd.DataFrame, table: pd.DataFrame, slopes: bool = True) -> pd.DataFrame:
    """Return the rows of `population_head_damage` for the heads of `table`; without `slopes`, fit no mixed model."""
    rows = []
    for plan in records(plans[plans["unit"] == OF_HEADS]):
        metric = str(plan.first)
        valid = table[table[metric].notna()]
        row: dict[str, object] = {"item": plan.item, "family": plan.family, "metric": metric}
        row |= {"models": valid["model"].nunique(), "seeds": valid["seed"].nunique(), "heads": len(valid)}
        values = valid[metric].abs() if metric in ABSOLUTE_METRICS else valid[metric]
        seeds = _means_by_seed(valid.assign(x=values))
        if not len(seeds):
            rows.append({**row, **dict.fromkeys(_HEAD_COLUMNS), "note": "no model that counts yet"})
            continue
        slope, low, high, note = (
            _mixed_model_slope(values, valid["damage"], valid["model"], valid["layer"]) if slopes else NO_SLOPE
        )
        effect = effect_columns(seeds)
        row |= {"rho": effect["difference"], **{name: effect[name] for name in _SEED_COLUMNS}}
        rows.append(
            {**row, "slope": slope, "slope_low": low, "slope_high": high, "note": _note_on_seeds(len(seeds), note)}
        )
    return _corrected_table(rows)


def _note_on_seeds(seeds: int, note: str) -> str:
    """Return the note of a row; with only one seed, also say that there is no interval."""
    return "; ".join(text for text in ("one seed: no interval" if seeds == 1 else "", note) if text)


def _metric_and_decline(outcomes: pd.DataFrame, outcome: str, bases: Sequence[int]) -> pd.DataFrame:
    rows = outcomes[outcomes["counted"] & (outcomes["encoding"] == "own") & outcomes["base"].isin(bases)]
    x = rows[rows["outcome"] == outcome].set_index("model")
    y = rows[rows["outcome"] == "decline"].set_index("model")["value"]
    table = pd.DataFrame({"seed": x["seed"], "x": x["value"], "y": y}).dropna()
    return table.rename_axis("model").reset_index().sort_values(["seed", "model"], ignore_index=True)


def head_damages(models: pd.DataFrame, heads: pd.DataFrame, ablation: pd.DataFrame) -> pd.DataFrame:
    """Return the heads of counted models with `damage`, the increase of the loss on keys when a head is removed."""
    intact = ablation[ablation["layer"] < 0].set_index("model")["nats_1x"]
    ablated = ablation[ablation["layer"] >= 0]
    table = heads.merge(ablated[["model", "layer", "head", "nats_1x"]], on=["model", "layer", "head"])
    table["damage"] = table["nats_1x"].astype(float) - table["model"].map(intact).astype(float)
    table = table.merge(models[["model", "base", "seed"]], on="model")
    return table[table["model"].map(counted_by_plan(models)).astype(bool)].reset_index(drop=True)


def _means_by_seed(table: pd.DataFrame) -> FloatArray:
    """Return each seed's rank correlation of `x` and damage within layers, averaged over layers, then over models."""
    means = []
    for (seed, model), group in table.groupby(["seed", "model"]):
        rhos = [_rank_correlation(layer_heads["x"], layer_heads["damage"]) for _, layer_heads in group.groupby("layer")]
        known_rhos = [value for value in rhos if value is not None]
        if known_rhos:
            means.append((seed, model, float(np.mean(known_rhos))))
    frame = pd.DataFrame(means, columns=["seed", "model", "rho"])
    return frame.groupby("seed")["rho"].mean().to_numpy(dtype=float)


def _rank_correlation(x: pd.Series, y: pd.Series) -> float | None:
    first, second = (_to_unit_length(rankdata(values)) for values in (x, y))
    return None if first is None or second is None else float((first * second).sum())


def _ranks_within_blocks(values: FloatArray, blocks: list[IntArray]) -> FloatArray:
    """Return ranks within blocks, centred and scaled to length 1 per block; zero in a block without variance."""
    ranked = np.zeros_like(values)
    for block in blocks:
        ranks = _to_unit_length(rankdata(values[block]))
        if ranks is not None:
            ranked[block] = ranks
    return ranked


def _to_unit_length(ranks: FloatArray) -> FloatArray | None:
    deviations = ranks - ranks.mean()
    length = float(np.linalg.norm(deviations))
    return deviations / length if length > 0 else None


def _correlation_by_order(x: FloatArray, y: FloatArray, count: int) -> Callable[[IntArray], FloatArray]:
    """Return a function of permutations that returns the mean within-block correlation of x with permuted y."""

    def statistic(orders: IntArray) -> FloatArray:
        correlations: FloatArray = (x * y[orders]).sum(axis=1) / count
        return correlations

    return statistic


def _mixed_model_slope(
    x: pd.Series, y: pd.Series, groups: pd.Series, blocks: pd.Series | None = None
) -> tuple[float | None, float | None, float | None, str]:
    """Return the slope of standardised y on x with a random intercept per group, and its 95 % interval."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    if groups.nunique() < 2 or x.std() == 0 or y.std() == 0:
        return None, None, None, "too little for a mixed model"
    design = pd.DataFrame({"one": 1.0, "x": ((x - x.mean()) / x.std()).to_numpy()})
    if blocks is not None:
        dummies = pd.get_dummies(blocks.reset_index(drop=True), drop_first=True, dtype=float)
        design = pd.concat([design, dummies.add_prefix("layer")], axis=1)
    target = ((y - y.mean()) / y.std()).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance estimate at the edge of its range does not invalidate the slope
        try:
            # without derivatives: gradient methods stop at points that depend on the processor's rounding
            fit = MixedLM(target, design, groups=groups.to_numpy()).fit(reml=True, method=["powell"])
        except np.linalg.LinAlgError:
            return None, None, None, "the mixed model is singular"
    if not np.isfinite(fit.bse["x"]):
        return None, None, None, "the mixed model gives no interval"
    low, high = fit.conf_int().loc["x"]
    return float(fit.params["x"]), float(low), float(high), ""


def _corrected_table(rows: list[dict[str, object]]) -> pd.DataFrame:
    table = corrected(pd.DataFrame(rows), "family")
    assert not (table["p"].isna() & (table["note"] == "")).any()
    return table
