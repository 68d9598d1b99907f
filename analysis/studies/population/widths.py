"""Compare plasticity by bin width in shipped models, pretrained models, and networks with random weights."""

import numpy as np
import pandas as pd

from analysis.population.recipe import SUBJECTS, PopulationRecipe
from analysis.studies.population._effects import seed_interval
from analysis.studies.population._retrained import ALIGNED, ALL, COST, HEAD_KEY, POOLED, head_costs

QUANTITIES = ("sway", "linear_share")
LAYER_QUANTITIES = ["plasticity", "sway", "gap", "spread", "linear_share"]
SCALED = ("gap", "spread")  # quantities whose change is given as a share of the first value
CASES = {"written": ("written", "own"), "silenced": ("silenced", "own"), "early queries": ("written", "first")}


def width_levels(
    shipped_widths: pd.DataFrame, shipped_exchange: pd.DataFrame, population_ablation: pd.DataFrame
) -> pd.DataFrame:
    """Return plasticity and exchange of shipped models by width and quarter: means of heads, equal or weighted by cost.

    The cost of a head is the increase of the loss on keys at the training length when the head is removed, at least 0.
    `off` is the value minus the value at one position (width 1).
    """
    tables = [shipped_widths.assign(quantity="plasticity", value=shipped_widths["plasticity"].astype(float))]
    for quantity in QUANTITIES:
        values = shipped_exchange[quantity].astype(float)
        tables.append(shipped_exchange.assign(quantity=quantity, value=values, estimator=ALIGNED))
    cells = ["model", "quantity", "estimator", "width", "low", "high"]
    heads = pd.concat([table[[*cells, "layer", "head", "value"]] for table in tables]).dropna(subset="value")
    names = {subject.name: name for name, subject in SUBJECTS.items()}
    costs = head_costs(population_ablation[population_ablation["model"].isin(names)])
    costs["model"] = costs["model"].map(names)
    weighted = heads.merge(costs[[*HEAD_KEY, COST]], on=HEAD_KEY)
    means = []
    for weights, table in ((ALL, weighted.assign(**{COST: 1.0})), (COST, weighted)):
        sums = table.assign(value=table["value"] * table[COST]).groupby(cells, as_index=False)[["value", COST]].sum()
        means.append(sums.assign(weights=weights, value=sums["value"] / sums[COST]).drop(columns=COST))
    levels = pd.concat(means, ignore_index=True)
    keys = ["model", "quantity", "estimator", "weights", "low"]
    at_one_position = levels[levels["width"] == 1].set_index(keys)["value"]
    levels["off"] = levels["value"] - levels[keys].join(at_one_position.rename("single"), on=keys)["single"]
    levels = levels[[*cells, "weights", "value", "off"]]
    return levels.sort_values([*cells[:5], "weights"], ignore_index=True)


def width_ranges(width_levels: pd.DataFrame, bin_kept: pd.DataFrame) -> pd.DataFrame:
    """Return the largest difference of plasticity from its value at the narrowest width, over all widths and quarters.

    For shipped models, widths range from single words to half a training length; for the pretrained model, from its
    narrowest to its widest bins.
    """
    rows = []
    plasticity = width_levels[width_levels["quantity"] == "plasticity"]
    for (model, estimator, weights), cells in plasticity.groupby(["model", "estimator", "weights"]):
        largest = float(cells["off"].abs().max())
        rows.append({"model": model, "estimator": estimator, "weights": weights, "most": largest})
    for model in sorted(set(bin_kept["model"]) - set(plasticity["model"])):
        cells = bin_kept[bin_kept["model"] == model].sort_values("width")
        for estimator, column in ((ALIGNED, "aligned"), (POOLED, "pooled")):
            by_width = cells.pivot(index="width", columns="low", values=column)
            largest = float((by_width - by_width.iloc[0]).abs().to_numpy().max())
            rows.append({"model": model, "estimator": estimator, "weights": ALL, "most": largest})
    return pd.DataFrame(rows)


def null_levels(null_initialisations: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds, with intervals, for random-weight networks by size, encoding, estimator and width.

    Quantities are plasticity and sway in the first and last training length, and `change`, last minus first; `own_size`
    says whether the population's models are as large.
    """
    own_size = f"{PopulationRecipe().layers} x {PopulationRecipe().width}"
    cells = ["size", "positional", "estimator", "width"]
    rows = []
    for key, group in null_initialisations.groupby(cells):
        for quantity in ("plasticity", "sway"):
            quarters = group.pivot(index="seed", columns="low", values=quantity).astype(float)
            first, last = quarters[0], quarters[quarters.columns.max()]
            for place, values in (("first", first), ("last", last), ("change", last - first)):
                low, high = seed_interval(values.to_numpy(dtype=np.float64))
                row = dict(zip(cells, key, strict=True)) | {"quantity": quantity, "place": place}
                row |= {"value": float(values.mean()), "low": low, "high": high, "seeds": len(values)}
                rows.append(row | {"own_size": row["size"] == own_size})
    return pd.DataFrame(rows)


def null_causes(null_layers: pd.DataFrame) -> pd.DataFrame:
    """Return what changes along the context in networks with random weights, and what causes it; means over seeds.

    `case` is the network as it is (`written`), without what its attention writes (`silenced`), or with queries of the
    first training length in place of the later ones (`early queries`); `depth` the first layer, the last, or the mean
    over `all`. `change` is the value in the last training length minus the value in the first, for gap and spread as a
    share of the first value, with Student's interval over initialisations.
    """
    rows = []
    for (size, positional), group in null_layers.groupby(["size", "positional"]):
        for case, (attention, queries) in CASES.items():
            cells = group[(group["attention"] == attention) & (group["queries"] == queries)]
            first, last = cells[cells["layer"] == 0], cells[cells["layer"] == cells["layer"].max()]
            for depth, layers in {"first": first, "last": last, "all": cells}.items():
                means = layers.groupby(["low", "seed"])[LAYER_QUANTITIES].mean()
                first_means, last_means = means.loc[0], means.loc[layers["low"].max()]
                for name in LAYER_QUANTITIES:
                    change = (last_means[name] - first_means[name]) / (first_means[name] if name in SCALED else 1.0)
                    low, high = seed_interval(change.to_numpy(dtype=np.float64))
                    row = {"size": size, "positional": positional, "case": case, "depth": depth, "quantity": name}
                    columns: dict[str, float | None] = {
                        "first": float(first_means[name].mean()),
                        "last": float(last_means[name].mean()),
                    }
                    columns |= {"change": float(change.mean()), "low": low, "high": high}
                    rows.append(row | columns | {"seeds": len(change)})
    return pd.DataFrame(rows)
