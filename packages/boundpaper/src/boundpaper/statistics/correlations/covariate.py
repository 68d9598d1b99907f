"""Correlate variables while covariates, or the family of each unit, are held fixed."""

import functools
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from boundpaper.statistics import guards
from boundpaper.statistics.bootstrap import DRAWS, SEED
from boundpaper.statistics.correlations.coefficient import (
    SYMBOL,
    Method,
    check_method,
    coefficient,
    coefficient_fields,
    interval,
    relabelled,
    scores,
    t_statistic,
    tie_tolerance,
)
from boundpaper.statistics.estimate import Estimate, join_notes, no
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.locations.student import t_p
from boundpaper.statistics.power import SMALL_N, detectable_note, smallest_correlation
from boundpaper.statistics.sample import NOISE, FloatArray, at_unit_scale, is_constant, matched, sample


def partial(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    covariates: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    covariate_name: str = "the covariate",
    method: Method = "pearson",
    confidence: float = 0.95,
) -> Estimate:
    """Correlate x and y with covariates held fixed.

    This is the correlation of the residuals of x and y after least squares on a constant and the covariates; for
    `spearman`, all are ranked first. t = r sqrt(df / (1 - r^2)) with df = n - 2 - k (Fisher 1924).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value per unit.
    covariates : array_like, shape (n,) or (n, k)
        Covariates, such as log parameters or log2 length.
    study, comparison, unit, note : str
        Metadata of the row.
    covariate_name : str
        Name of the covariates in the note.
    method : {"pearson", "spearman"}
        Coefficient.
    confidence : float
        Level of Fisher's interval.

    Returns
    -------
    Estimate
        Test `pearson_partial` or `spearman_partial`. Numbers are empty with a reason if there is no degree of freedom,
        or the covariates determine x or y.

    Raises
    ------
    ValueError
        If shapes do not agree, values are missing, the covariates are linearly dependent, or method is `kendall`.

    Examples
    --------
    >>> from boundpaper.statistics import partial
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> row = partial([1, 2, 3, 4, 5], [2, 1, 4, 3, 9], [1, 1, 2, 2, 4], covariate_name="pot size", **named)
    >>> round(row.estimate, 3), row.df
    (-0.972, 2.0)
    """
    caller = f"{method}_partial {study}/{comparison}"
    if method == "kendall":
        raise ValueError(f"{caller}: partial tau has no t test; use pearson or spearman")
    check_method(method, caller)
    x_values, y_values = (at_unit_scale(values) for values in matched(x, y, ("x", "y")))
    n = x_values.size
    columns = np.asarray(covariates, dtype=np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or columns.shape[0] != n:
        raise ValueError(f"{caller}: {covariate_name} has shape {np.shape(covariates)}; give ({n},) or ({n}, k)")
    controls = [scores(at_unit_scale(sample(column, covariate_name)), method) for column in columns.T]
    k = len(controls)
    design = np.column_stack([np.ones(n), *controls])
    # n <= k leaves no degree of freedom, which is handled below
    if n > k and (any(map(is_constant, controls)) or np.linalg.matrix_rank(_unit_columns(design)) < k + 1):
        raise ValueError(
            f"{caller}: {covariate_name} is constant or linearly dependent; leave the redundant column out"
        )
    symbol = SYMBOL[method]
    make_row = functools.partial(
        Estimate,
        study=study,
        comparison=comparison,
        test=f"{method}_partial",
        unit=unit,
        n=n,
        effect_name=f"partial_{symbol}",
    )
    notes = [note, f"given {covariate_name}", *guards.few_distinct({"x": x_values, "y": y_values})]
    df = n - 2 - k
    all_fields = (symbol, "interval", "statistic", "df", "p")
    if df < 1:
        because = f"n = {n} with {k} held fixed leaves no degree of freedom"
        return make_row(note=join_notes(*notes, no(*all_fields, because=because)))
    residuals_x, residuals_y = (_residuals(scores(values, method), design) for values in (x_values, y_values))
    for name, values, residuals in (("x", x_values, residuals_x), ("y", y_values, residuals_y)):
        if is_constant(values) or is_constant(residuals, float(np.max(np.abs(scores(values, method))))):
            because = f"{name} does not vary once {covariate_name} is held fixed"
            return make_row(note=join_notes(*notes, no(*all_fields, because=because)))

    value = coefficient(residuals_x, residuals_y)
    if value is None:
        raise ValueError(f"{caller}: the residuals have no variance; rescale x and y to similar sizes")
    ends, reason = interval(value, n, method, k, confidence)
    if ends is None:
        notes.append(no("interval", because=reason))
    statistic = t_statistic(value, df)
    if statistic is None:
        notes.append(no("statistic", "p", because="the partial correlation is 1 in size"))
    if df >= 2 and n <= SMALL_N:
        notes.append(detectable_note("|partial r|", smallest_correlation(n, k), n))
    p_value = None if statistic is None else t_p(statistic, df)
    fields = coefficient_fields(value, ends)
    return make_row(**fields, statistic=statistic, df=df, p_value=p_value, note=join_notes(*notes))


def within_family(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    families: Sequence[Hashable],
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Correlate x and y within families, so that differences between families do not matter.

    x and y are centred by family, and units are relabelled only within their family. Families of one unit are excluded
    and counted in the note.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value per unit.
    families : sequence, length n
        The family of each unit.
    study, comparison, unit, note : str
        Metadata of the row.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p, used when families allow more than 8! relabelings.
    confidence : float
        Level of Fisher's interval, which counts each family but the first as a covariate.

    Returns
    -------
    Estimate
        Test `pearson_within_family`; n counts the units in families of two or more.

    Raises
    ------
    ValueError
        If lengths differ or values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import within_family
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> row = within_family([1, 2, 3, 7, 8, 9], [2, 1, 4, 6, 9, 8], list("aaabbb"), **named)
    >>> round(row.estimate, 3)
    0.655
    """
    xs, ys = (at_unit_scale(values) for values in matched(x, y, ("x", "y")))
    if len(families) != xs.size:
        raise ValueError(
            f"within_family {study}/{comparison}: {xs.size} values but {len(families)} family labels; give one per unit"
        )
    members: dict[Hashable, list[int]] = {}
    for position, family in enumerate(families):
        members.setdefault(family, []).append(position)
    groups = [np.array(positions, dtype=np.int64) for positions in members.values() if len(positions) > 1]
    n = sum(group.size for group in groups)
    make_row = functools.partial(
        Estimate,
        study=study,
        comparison=comparison,
        test="pearson_within_family",
        unit=unit,
        n=n,
        effect_name="within_family_r",
    )
    notes = [note, f"{len(groups)} families of two or more", no("statistic", "df", because="p by permutation")]
    if xs.size - n:
        notes.append(f"{xs.size - n} units alone in their family left out")
    all_fields = ("r", "interval", "p")
    if not groups:
        return make_row(note=join_notes(*notes, no(*all_fields, because="no family has two units")))
    centred_x, centred_y = (
        np.concatenate([values[group] - values[group].mean() for group in groups]) for values in (xs, ys)
    )
    for name, values, residuals in (("x", xs, centred_x), ("y", ys, centred_y)):
        if is_constant(residuals, float(np.max(np.abs(values)))):
            because = f"{name} does not vary inside families"
            return make_row(note=join_notes(*notes, no(*all_fields, because=because)))

    value = coefficient(centred_x, centred_y)
    if value is None:
        raise ValueError(f"within_family {study}/{comparison}: no variance in families; rescale x, y to similar sizes")
    blocks = np.split(np.arange(n), np.cumsum([group.size for group in groups])[:-1])
    outcome = permutation_p(
        value,
        relabelled(centred_x, centred_y, "pearson"),
        blocks,
        draws=draws,
        seed=seed,
        cells_per_draw=n,
        tie=tie_tolerance(centred_x, centred_y, "pearson", (float(np.max(np.abs(xs))), float(np.max(np.abs(ys))))),
    )
    notes += [f"{outcome.note} inside families", *guards.smallest_p(outcome.smallest)]
    ends, reason = interval(value, n, "pearson", len(groups) - 1, confidence)
    if ends is None:
        notes.append(no("interval", because=reason))
    return make_row(**coefficient_fields(value, ends), p_value=outcome.p_value, note=join_notes(*notes))


def _unit_columns(design: FloatArray) -> FloatArray:
    return np.asarray(design / np.linalg.norm(design, axis=0), dtype=np.float64)


def _residuals(values: FloatArray, design: FloatArray) -> FloatArray:
    # the basis is orthonormal, so that covariates of very different size lose no precision
    basis, _ = np.linalg.qr(_unit_columns(design))
    residuals = values - basis @ (basis.T @ values)
    residuals -= basis @ (basis.T @ residuals)
    is_noise = np.abs(residuals) <= NOISE * float(np.max(np.abs(values)))
    return np.asarray(np.where(is_noise, 0.0, residuals), dtype=np.float64)
