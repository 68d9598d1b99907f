"""Bound the effect of buckets on plasticity in rotary models, and find which conclusions remain valid."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.population.recipe import BASES, PopulationRecipe
from analysis.studies.crossmodel._fates import ConclusionInputs
from analysis.studies.crossmodel._kept import agreement, frequencies, kept_share
from analysis.studies.population._outcomes import records
from analysis.studies.pretrained.other_texts import CODE
from boundpaper.errors import DataError

SHIPPED = {
    name: (float(BASES[0]), PopulationRecipe().width // PopulationRecipe().heads)
    for name in ("tiny-rope", "tiny-continued")
}


def bin_bounds(
    models: pd.DataFrame,
    checkpoints: pd.DataFrame,
    capture_settings: pd.DataFrame,
    captured_models: pd.DataFrame,
    training_trajectory: pd.DataFrame,
) -> pd.DataFrame:
    """Return one row per capture: the share of an even mean query that its buckets keep, and the least possible share.

    An even mean query has the same norm in all rotary pairs. `kept_low` and `kept_high` follow from the rotation and
    its scaling. If the sources give no base, they differ: they are for the smallest and the largest base of the other
    captures. `kept_least` is the share that the plasticity of the last fifth requires, since rho is at most 1.
    """
    bases = [*models["rope_theta"].dropna().astype(float), *checkpoints["rope_theta"].astype(float)]
    settings = capture_settings.set_index("model")
    captures = pd.concat([captured_models.set_index("model"), training_trajectory.set_index("checkpoint")])
    rows = []
    for row in records(models[models["bucket_tokens"].notna()]):
        setting = settings.loc[row.model]
        scaling: tuple[Any, ...] = ("none",)
        if str(setting["scaling"]) != "none":
            scaling = (str(setting["scaling"]), float(setting["factor"]), float(setting["original_positions"]))
        base = float(row.rope_theta) if pd.notna(row.rope_theta) else None
        labels = {"capture": row.model, "family": row.family, "base": base, "scaling": scaling[0]}
        base_range = (min(bases), max(bases)) if base is None else (base,)
        rows.append(labels | _even_mean(base_range, int(row.head_dim), float(row.bucket_tokens), scaling))
    head_dims = models.set_index("model")["head_dim"]
    for row in records(checkpoints):
        base = float(row.rope_theta)
        labels = {"capture": row.checkpoint, "family": "SmolLM3", "base": base, "scaling": "none"}
        rows.append(labels | _even_mean((base,), int(head_dims[row.model]), float(row.bucket_tokens), ("none",)))
    table = pd.DataFrame(rows)
    table["kept_least"] = agreement(table["capture"].map(captures["ap_last_20"]))
    table["note"] = np.where(table["base"].isna(), "base: the sources give none", "")
    return table


def _even_mean(bases: tuple[float, ...], dimensions: int, width: float, scaling: tuple[Any, ...]) -> dict[str, Any]:
    radians_by_base = [frequencies(base, dimensions, *scaling) for base in bases]
    shares = [kept_share(radians, width) for radians in radians_by_base]
    return {
        "dimensions": dimensions,
        "width": int(width),
        "kept_low": min(shares),
        "kept_high": max(shares),
        "half_turns": float(np.mean([(radians * width >= np.pi).mean() for radians in radians_by_base])),
    }


def bin_kept(
    shipped_widths: pd.DataFrame, pretrained_widths: pd.DataFrame, published_facts: pd.DataFrame
) -> pd.DataFrame:
    """Return one row per model, width and place: pooled plasticity, plasticity at one position, and the kept share.

    Values are means over heads. `kept_even` is the share of an even mean. A width of one position keeps the whole mean
    and has no row.
    """
    facts = published_facts.set_index("fact")["value"]
    rows = []
    for table in (shipped_widths, pretrained_widths):
        means = table.groupby(["model", "width", "low", "estimator"])["plasticity"].mean().unstack().reset_index()
        for row in records(means[means["width"] > 1]):
            head_dim: float
            if row.model in SHIPPED:
                base, head_dim = SHIPPED[row.model]
            elif f"rope_theta_{(model := str(row.model).removesuffix(CODE))}" in facts:
                base, head_dim = (float(facts[f"{name}_{model}"]) for name in ("rope_theta", "head_dim"))
            else:
                continue  # the one measured model without rotation
            kept_even = kept_share(frequencies(base, int(head_dim)), float(row.width))
            kept = float(agreement(row.bucket_full) / agreement(row.aligned_full))
            labels = {"model": row.model, "width": row.width, "low": row.low}
            rows.append(
                labels | {"aligned": row.aligned_full, "pooled": row.bucket_full, "kept": kept, "kept_even": kept_even}
            )
    return pd.DataFrame(rows)


def bin_factors(bin_kept: pd.DataFrame, null_levels: pd.DataFrame) -> pd.DataFrame:
    """Return the largest ratios between values of `kept`, measured in the widest bins.

    `along` is the largest growth from the first place to the last in one capture, `back` the largest fall, and
    `between` the ratio of the largest to the least such change. `even` is the ratio of the largest to the least
    `kept / kept_even`. `random` is the largest growth in networks of random weights, from `null_levels`.
    """
    widest = bin_kept[bin_kept["width"] == bin_kept.groupby("model")["width"].transform("max")]
    ends = widest.sort_values("low").groupby("model")["kept"].agg(["first", "last"])
    change, excess = ends["last"] / ends["first"], widest["kept"] / widest["kept_even"]
    random_levels = null_levels[(null_levels["positional"] == "rope") & (null_levels["quantity"] == "plasticity")]
    rho = random_levels.assign(rho=agreement(random_levels["value"])).pivot(
        index="size", columns=["estimator", "width", "place"], values="rho"
    )
    at_one_position, pooled = rho["aligned_full"][1], rho["bucket_full"][random_levels["width"].max()]
    random_growth = (pooled["last"] / at_one_position["last"]) / (pooled["first"] / at_one_position["first"])
    factors = {
        "along": max(change.max(), 1.0),
        "back": max(1 / change.min(), 1.0),
        "between": change.max() / change.min(),
    }
    factors |= {"even": excess.max() / excess.min(), "random": random_growth.max()}
    captures = [len(ends)] * 4 + [int(random_growth.notna().sum())]
    pairs = zip(factors.items(), captures, strict=True)
    return pd.DataFrame([{"factor": name, "value": value, "captures": count} for (name, value), count in pairs])


def bin_fates(
    bin_conclusions: pd.DataFrame,
    bin_bounds: pd.DataFrame,
    bin_factors: pd.DataFrame,
    claims: pd.DataFrame,
    captured_models: pd.DataFrame,
    decile_profiles: pd.DataFrame,
    bin_profiles: pd.DataFrame,
    equal_positions: pd.DataFrame,
    measured_models: pd.DataFrame,
    training_trajectory: pd.DataFrame,
    training_equal_positions: pd.DataFrame,
    training_positions: pd.DataFrame,
    training_comparison: pd.DataFrame,
    length_decline: pd.DataFrame,
    lbp_lengths: pd.DataFrame,
    ruler_lengths: pd.DataFrame,
) -> pd.DataFrame:
    """Return the fate of each conclusion on public models if rotation inside buckets is taken into account.

    `needed` is the factor between the two sides' kept shares of the squared mean that would reverse the conclusion;
    `seen` is the largest factor measured in any model. If captures are compared, `seen` includes the factor between
    their rotations and widths for an even mean. A conclusion `survives` if it uses no plasticity, compares a network
    with itself, or needs a larger factor than was seen; a conclusion about one level `falls`; any other is `open`.
    `verdicts` are the ledger's verdicts on the claims, which take the measured values as they are; `note` has the
    reason given in `bin_conclusions`. Raises DataError if a conclusion names an unknown capture, claim or comparison,
    or has no reason although it needs no factor.
    """
    inputs = ConclusionInputs(
        {name: table for name, table in locals().items() if name not in ("bin_conclusions", "claims")}
    )
    functions = claims.assign(function=claims["claim"].astype(str).str.partition(".")[0])
    rows = []
    for row in records(bin_conclusions):
        names, reason = str(row.claims).split(), "" if pd.isna(row.reason) else str(row.reason)
        judgements = functions[functions["function"].isin(names)]
        if unknown_claims := sorted(set(names) - set(judgements["function"])):
            raise DataError(
                f"bin_conclusions, {row.conclusion}: no claim {unknown_claims[0]!r} in the ledger; fix the name"
            )
        needed, seen, fate, note = inputs.fate(row)
        if needed is None and not (note or reason):
            raise DataError(
                f"bin_conclusions, {row.conclusion}: say in `reason` why rotation inside buckets does not matter"
            )
        rows.append(
            {
                **{name: getattr(row, name) for name in ("conclusion", "chapter", "statement", "compares")},
                "needed": needed,
                "seen": seen,
                "fate": fate,
                "verdicts": ", ".join(sorted(set(judgements["verdict"].astype(str)))),
                "note": "; ".join(filter(None, (reason, note))),
            }
        )
    return pd.DataFrame(rows)
