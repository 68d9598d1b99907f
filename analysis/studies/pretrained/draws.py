"""Compute the sampling error of a mean over drawn heads; exact if all heads of the model were captured."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.studies.pretrained._named import display_names, table_of_rows
from boundpaper.statistics.bootstrap import percentile_interval, resamples

METRICS = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop")
SIZES = (10, 30, 100)  # numbers of heads in a draw
DRAWS = 2000
OWN_NOTE = "drawn_other, common, twin_difference: of the source's captures only"


def pretrained_draws(
    head_metrics: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
    twin_heads: pd.DataFrame,
    capture_noise: pd.DataFrame,
) -> pd.DataFrame:
    """Return the standard deviation of a mean over drawn heads, one row per model, metric and number of heads.

    Of N heads with the standard deviation S (divisor N - 1), k drawn without replacement have a mean with the standard
    deviation S sqrt((1 - k / N) / k), whatever their distribution (Cochran 1977, theorem 2.2). Rows `own` take N from
    the model itself. The row `source` takes S from the model, and the numbers of heads from the source's two captures
    of one network: `drawn` in one, `drawn_other` in the other, `common` to both. `twice_sd` is the standard deviation
    of the difference of two draws. In rows `own`, these are independent draws of k heads each, so it is sqrt(2) times
    the deviation of one draw. In the row `source`, they are the source's draws of k and l heads with c in common, so it
    is S sqrt(1 / k + 1 / l - 2 c / (k l)), since a head in both weighs by 1 / k - 1 / l. Compare it with
    `twin_difference`, the actual difference of the source's two captures. Intervals resample key heads, since query
    heads with a common key head are similar. If only some heads of the captured layers were captured, the spread is
    over these heads. Raises DataError if no pretrained model is measured.
    """
    counts = {str(row["quantity"]): int(row["value"]) for _, row in twin_heads.iterrows()}
    kept_plain, kept_crossed, common = (counts[key] for key in ("kept_plain", "kept_crossed", "common"))
    variance = 1 / kept_plain + 1 / kept_crossed - 2 * common / (kept_plain * kept_crossed)
    twin = (kept_plain, counts["heads"], float(np.sqrt(variance)))
    twin_differences: Any = capture_noise.drop_duplicates("metric").set_index("metric")["twin_difference"]
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        model_heads = head_metrics[head_metrics["model"] == model]
        for metric in METRICS:
            values = model_heads.dropna(subset=[metric])
            if len(values) < 2:
                continue
            groups = [np.asarray(group[metric], dtype=float) for _, group in values.groupby(["layer", "key_head"])]
            spread, ends = _deviation_with_interval(groups)
            facts = {"model": model, "display_name": name, "metric": metric, "key_heads": len(groups)}
            cases = [("own", k, len(values), float("nan")) for k in SIZES if k < len(values)] + [("source", *twin)]
            for origin, k, heads, twin_factor in cases:
                factor = float(np.sqrt((1 - k / heads) / k))
                twice = twin_factor if origin == "source" else float(np.sqrt(2)) * factor
                difference = abs(float(twin_differences[metric])) if origin == "source" else None
                pair = {"drawn_other": kept_crossed, "common": common} if origin == "source" else {}
                rows.append(
                    {
                        **facts,
                        **({"drawn_other": None, "common": None} | pair),
                        **{"of": origin, "drawn": k, "heads": heads, "spread": spread, "draw_sd": factor * spread},
                        **{"twice_sd": twice * spread, "twice_low": twice * ends[0], "twice_high": twice * ends[1]},
                        "twin_difference": difference,
                        "note": "" if origin == "source" else OWN_NOTE,
                    }
                )
    absence = "head_metrics has no pretrained model; run: python build.py heads CAPTURE --name MODEL"
    columns = "model display_name metric of drawn drawn_other common heads key_heads spread draw_sd".split()
    columns += "twice_sd twice_low twice_high twin_difference note".split()
    return table_of_rows(rows, absence, columns).astype({"drawn_other": "Int64", "common": "Int64"})


def _deviation_with_interval(groups: list[NDArray[np.float64]]) -> tuple[float, tuple[float, float]]:
    """Return the standard deviation over heads, and its interval from resampled key heads."""
    counts = np.array([len(group) for group in groups], dtype=float)
    sums = np.array([group.sum() for group in groups])
    squares = np.array([np.square(group).sum() for group in groups])
    spreads = []
    for index in resamples(len(groups), DRAWS):
        n, total, square = (array[index].sum(axis=-1) for array in (counts, sums, squares))
        spreads.append(np.sqrt(np.maximum(square - total**2 / n, 0.0) / (n - 1)))
    return float(np.concatenate(groups).std(ddof=1)), percentile_interval(np.concatenate(spreads))
