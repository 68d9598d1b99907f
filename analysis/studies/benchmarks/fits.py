"""Fit scores on plasticity drops over models by least squares, with confidence bands for scatter figures."""

import numpy as np
import pandas as pd

from boundpaper.errors import DataError

POINTS = 41
CONFIDENCE = 0.95


def ap_drop_fit(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Fit the LongBench Pro score on ap_drop, over the source's models and over all: line and 95 % band of the mean.

    Key: `sample` ("source" or "all") and `x`. The band is the pointwise confidence interval of the mean at x, by t
    with n - 2 degrees of freedom; it assumes normal residuals with equal variance.
    """
    samples = {"source": matched_models[matched_models["in_source"].astype(bool)], "all": matched_models}
    bands = [
        _fit_with_band(rows["ap_drop"], rows["lbp"], f"ap_drop_fit, {name}").assign(sample=name)
        for name, rows in samples.items()
    ]
    return pd.concat(bands, ignore_index=True)[["sample", *_COLUMNS]]


def length_decline_fit(length_decline: pd.DataFrame) -> pd.DataFrame:
    """Fit the score's relative decline (percent) on ap_drop, in both prompt modes; samples as in `ap_drop_fit`."""
    bands = []
    for mode, rows in length_decline.groupby("mode", sort=False):
        samples = {"source": rows[rows["in_source"].astype(bool)], "all": rows}
        for name, models in samples.items():
            band = _fit_with_band(models["ap_drop"], 100 * models["decline"], f"length_decline_fit, {mode}, {name}")
            bands.append(band.assign(mode=mode, sample=name))
    return pd.concat(bands, ignore_index=True)[["mode", "sample", *_COLUMNS]]


_COLUMNS = ("x", "fit", "low", "high", "slope", "intercept", "r_squared", "n")


def _fit_with_band(x_values: pd.Series, y_values: pd.Series, name: str) -> pd.DataFrame:
    """Fit y on x; return the line and its band at `POINTS` values from the smallest x to the largest."""
    # imported here, as statsmodels costs most of a second and only this fit needs it
    import statsmodels.api as sm

    xs, ys = x_values.to_numpy(dtype=float), y_values.to_numpy(dtype=float)
    if xs.size < 3 or np.ptp(xs) == 0:
        raise DataError(
            f"{name}: {xs.size} models with {len(set(xs))} different drops; a line needs three models and two drops"
        )
    model = sm.OLS(ys, sm.add_constant(xs)).fit()
    grid = np.linspace(xs.min(), xs.max(), POINTS)
    band = model.get_prediction(sm.add_constant(grid)).conf_int(alpha=1 - CONFIDENCE)
    intercept, slope = model.params
    table = pd.DataFrame({"x": grid, "fit": intercept + slope * grid, "low": band[:, 0], "high": band[:, 1]})
    return table.assign(slope=slope, intercept=intercept, r_squared=model.rsquared, n=xs.size)
