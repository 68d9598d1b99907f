"""Decide whether a conclusion on public models changes if rotation inside buckets is taken into account."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr, t

from analysis.studies.crossmodel._kept import FloatArray, agreement
from boundpaper.errors import DataError

LEVEL = 0.05
FACTORS = np.round(np.exp(np.arange(0, 1.6, 0.01)), 4)  # factors to try, from 1 to 4.9
CAPTURE_SETS = {"captured", "checkpoints", "scored"}
SMOLLM3 = "lc-32k-to-64k-step-20000"  # the checkpoint that is compared with other models


class ConclusionInputs:
    """The values behind the conclusions on public models, and the factor that would reverse each conclusion."""

    def __init__(self, tables: dict[str, pd.DataFrame]) -> None:
        by_model = {name: table.set_index("model") for name, table in tables.items() if "model" in table}
        captured, trajectory = by_model["captured_models"], tables["training_trajectory"].set_index("checkpoint")
        self.positions, self.bounds = tables["training_positions"], tables["bin_bounds"].set_index("capture")
        self.seen_factors = dict(
            zip(tables["bin_factors"]["factor"], tables["bin_factors"]["value"].astype(float), strict=True)
        )
        self.seen_factors["either"] = max(self.seen_factors["along"], self.seen_factors["back"])
        columns = {"ap_overall": "overall", "ap_first_20": "first fifth", "ap_last_20": "last fifth"}
        frames = [captured, trajectory]
        measured_models = by_model["measured_models"].drop(index=[*captured.index], errors="ignore")
        table = pd.concat([frame[[*columns]].rename(columns=columns) for frame in (*frames, measured_models)])
        table = table.join(by_model["decile_profiles"][[f"d{number}" for number in range(10)]])
        table = table.join(by_model["bin_profiles"][["0-8K"]])
        table = table.join(by_model["equal_positions"].rename(columns={"mean_32k": "0-32K"})[["0-32K"]])
        windows = by_model["training_comparison"].rename(index={"smollm3-3b": SMOLLM3})
        table = table.join(
            pd.DataFrame(
                {"first of 64K": windows["far_same"] + windows["drop_same"], "last of 64K": windows["far_same"]}
            )
        )
        ranges = {"at_0_1k": "0-1K", "at_1k_2k": "1K-2K", "at_2k_4k": "2K-4K"}
        self.values = table.join(
            tables["training_equal_positions"].set_index("checkpoint")[[*ranges]].rename(columns=ranges)
        )
        decline = by_model["length_decline"]
        nonthinking = decline[decline["mode"] == "nonthinking"]
        bias_windows = pd.concat([frame["bias_window"] for frame in frames])
        self.outcomes = {"decline": nonthinking["decline"], "lbp": nonthinking["lbp"], "bias_window": bias_windows}
        self.outcomes |= {"points": nonthinking["lbp_8k"] - nonthinking["lbp_128k"], "ruler": captured["ruler_128k"]}
        self.covariates = captured[["family", "log_parameters"]]
        self.scored = [str(model) for model in nonthinking.index]
        lengths, ruler = tables["lbp_lengths"], tables["ruler_lengths"].rename(columns={"ruler": "score"})
        lengths = pd.concat([lengths.rename(columns={"lbp": "score"}), ruler.assign(mode="ruler")])
        self.lengths = lengths.dropna(subset=["plasticity"])

    def fate(self, row: Any) -> tuple[float | None, float | None, str, str]:
        """Return the factor that reverses a conclusion, the observed factor, the fate, and why a factor is missing."""
        sides = [self._captures_named(row, side) for side in str(row.entities).split("|")]
        if row.compares == "no plasticity":
            return None, None, "survives", ""
        if row.compares == "one network":
            return None, 1.0, "survives", ""
        if row.compares == "level":
            share = self.bounds.loc[sides[0], "kept_low"].min()
            return 1.0, float(1 / share), "falls", ""
        needed, seen = self._needed_and_seen(row, sides)
        note = "" if needed is not None else f"no factor up to {FACTORS[-1]:.1f} turns it"
        return needed, seen, "survives" if needed is None or needed > seen else "open", note

    def _captures_named(self, row: Any, side: str) -> list[str]:
        names = side.split()
        if set(names) <= CAPTURE_SETS:
            is_smollm3 = self.bounds["family"] == "SmolLM3"
            sets = {"captured": [*self.bounds.index[~is_smollm3]], "checkpoints": [*self.bounds.index[is_smollm3]]}
            names = [str(name) for name in (sets | {"scored": self.scored})[names[0]]]
        if unknown_captures := sorted(set(names) - set(self.values.index)):
            raise DataError(
                f"bin_conclusions, {row.conclusion}: no capture {unknown_captures[0]!r}; see bin_bounds for names"
            )
        return names

    def _end_rhos(self, places: str, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return rho at the first and at the last position."""
        ends = {"fifths": "first fifth, last fifth", "tenths": "d0, d9", "64K": "first of 64K, last of 64K"}
        first, last = ends.get(places, places.replace(" ", ", ")).split(", ")
        return agreement(self.values.loc[[*names], first]), agreement(self.values.loc[[*names], last])

    def _deciles(self, names: Sequence[str]) -> FloatArray:
        return self.values.loc[[*names], [f"d{place}" for place in range(10)]].to_numpy(dtype=np.float64)

    def _level_factor(self, names: Sequence[str]) -> float:
        """Return the largest ratio between two captures' kept shares of the mean query.

        It is estimated for an even mean, of equal norm in all rotary pairs, and multiplied by the largest measured
        error of such an estimate. It cannot exceed the factor between a share of 1 and the least possible share.
        """
        bounds = self.bounds.loc[[*names]]
        spread = float(bounds["kept_high"].max() / bounds["kept_low"].min())
        return float(min(self.seen_factors["even"] * spread, 1 / bounds["kept_least"].min()))

    def _needed_and_seen(self, row: Any, sides: list[list[str]]) -> tuple[float | None, float]:
        names = [name for side in sides for name in side]
        if row.compares in ("fall", "fall of random weights"):
            first, last = self._end_rhos(row.places, names)
            return float((last / first).min()), self.seen_factors["along" if row.compares == "fall" else "random"]
        if row.compares in ("rise", "no rise"):
            deciles = agreement(self._deciles(names))
            steps = [[decile[i] / decile[j] for i, j in itertools.combinations(range(10), 2)] for decile in deciles]
            if row.compares == "rise":
                return float(min(map(max, steps))), self.seen_factors["back"]
            return float(1 / max(map(max, steps))), self.seen_factors["along"]
        if row.compares in ("halves", "straight"):
            is_reversed = self._halves_reversed if row.compares == "halves" else self._straightness_reversed
            return _least_reversing(lambda factor: is_reversed(sides, factor)), self.seen_factors["either"]
        if row.compares == "levels of two":
            lower, upper = (agreement(self.values.loc[side, row.places].dropna()) for side in sides)
            return float(lower.min() / upper.max()), self._level_factor(names)
        if row.compares in ("drops", "no difference"):
            return self._factor_for_equal_drops(row, sides), self.seen_factors["between"]
        if row.compares == "gathered":  # phases differ by a factor; changes within one capture are ignored
            return self._factor_between_phases(), self._level_factor(names)
        if row.compares == "no relation along one capture":
            cells = self.lengths[(self.lengths["model"] == names[0]) & (self.lengths["mode"] == row.outcome)]
            rho, score = agreement(cells["plasticity"]), cells["score"].to_numpy(dtype=np.float64)
            return _least_factor(
                lambda powers: np.diff(_plasticity(rho, powers)), np.diff(score), len(rho), True
            ), self.seen_factors["either"]
        if row.compares == "no relation of levels by length":
            factors = []
            for _, cells in self.lengths[self.lengths["mode"] != "ruler"].groupby(["mode", "length"]):
                values_for = functools.partial(_plasticity, agreement(cells["plasticity"]))
                scores = cells["score"].to_numpy(dtype=np.float64)
                factors.append(_least_factor(values_for, scores, len(cells), True, towards=1.0))
            return min((factor for factor in factors if factor is not None), default=None), self._level_factor(names)
        factors = [self._factor_that_removes(row, side) for side in sides]
        smallest = min((factor for factor in factors if factor is not None), default=None)
        return smallest, self._level_factor(names) if "levels" in row.compares else self.seen_factors["between"]

    def _halves_reversed(self, sides: list[list[str]], factor: float) -> bool:
        """Return whether some choice of kept shares makes plasticity fall more in the second half than in the first."""
        rho = agreement(self._deciles(sides[0])[:, [0, 4, 5, 9]])
        a, b, c, d = (_plasticity(rho, _choices(4)[:, None] * np.log(factor))[..., place] for place in range(4))
        return bool((a - b <= c - d).any())

    def _straightness_reversed(self, sides: list[list[str]], factor: float) -> bool:
        """Return whether some choice of kept shares makes the first side as straight as the second.

        A side's straightness is the smallest R squared of a line among its captures.
        """
        fits = []
        for side, extreme in zip(sides, (np.max, np.min), strict=True):
            values = _plasticity(agreement(self._deciles(side)), _choices(10)[:, None] * np.log(factor))
            residual = values - values.mean(-1, keepdims=True)
            line = np.arange(10) - 4.5
            fits.append(extreme((residual @ line) ** 2 / ((residual**2).sum(-1) * (line @ line)), axis=0).min())
        return bool(fits[0] >= fits[1])

    def _factor_for_equal_drops(self, row: Any, sides: list[list[str]]) -> float | None:
        """Return the least factor between the sides' changes of kept share that equalizes their mean drops, or None."""
        if row.compares == "no difference":
            return 1.0  # any factor would create a difference
        rhos_of_sides = []
        for side in sides:
            complete_names = [name for name in side if np.isfinite(self._end_rhos(row.places, [name])).all()]
            rhos_of_sides.append(self._end_rhos(row.places, complete_names))
        sign = np.sign(np.subtract(*(_plasticity_drop(*rhos, 0.0).mean() for rhos in rhos_of_sides)))

        def is_reversed(factor: float) -> bool:
            drops = (
                _plasticity_drop(*rhos, power * np.log(factor)).mean()
                for rhos, power in zip(rhos_of_sides, (-0.5, 0.5), strict=True)
            )
            return bool(np.sign(np.subtract(*drops)) != sign)

        return _least_reversing(is_reversed)

    def _factor_that_removes(self, row: Any, names: list[str]) -> float | None:
        """Return the least factor that removes an observed relation, or creates an unobserved one.

        Each capture's kept share (for drops: its change along the context) is multiplied or divided by the root of the
        factor; every choice of captures is tried.
        """
        outcome = self.outcomes[row.outcome].loc[names].to_numpy(dtype=np.float64)
        regressors = [np.ones(len(names))]
        if "inside families" in row.compares:
            families = self.covariates.loc[names, "family"]
            regressors = [families.to_numpy() == family for family in set(families)]
        elif "equal size" in row.compares:
            regressors = [*regressors, self.covariates.loc[names, "log_parameters"].to_numpy(dtype=np.float64)]
        basis = np.column_stack([np.asarray(column, dtype=np.float64) for column in regressors])
        if "levels" in row.compares:
            level = agreement(self.values.loc[names, row.places])
            return _least_factor(
                lambda powers: _plasticity(level, powers), outcome, len(names), row.compares[:3] == "no ", basis
            )
        rhos = self._end_rhos(row.places, names)
        return _least_factor(
            lambda powers: _plasticity_drop(*rhos, powers), outcome, len(names), row.compares[:3] == "no ", basis
        )

    def _factor_between_phases(self) -> float | None:
        """Return the least factor between phases at which plasticity follows gathered bias no better than position."""
        table = self.positions
        row_widths = table["checkpoint"].map(self.bounds["width"]).to_numpy()
        rho, widths = agreement(table["plasticity"]), sorted(set(row_widths))

        def is_reversed(factor: float) -> bool:
            for powers in _choices(len(widths)):
                powers_by_width = dict(zip(widths, powers, strict=True))
                scaled = rho / factor ** np.array([powers_by_width[size] for size in row_widths])
                by_bias, by_position = (abs(spearmanr(scaled, table[name])[0]) for name in ("gathered_bias", "middle"))
                if by_bias <= by_position:
                    return True
            return False

        return _least_reversing(is_reversed)


def _least_reversing(is_reversed: Callable[[float], bool]) -> float | None:
    """Return the smallest of the tried factors that reverses a conclusion; None if none does."""
    return next((float(factor) for factor in FACTORS if is_reversed(float(factor))), None)


def _choices(count: int) -> FloatArray:
    """Return every choice of `count` exponents of -1/2 or 1/2, shape (choices, count)."""
    return np.array(list(itertools.product((-0.5, 0.5), repeat=count)))


def _plasticity(rho: FloatArray, powers: FloatArray | float) -> FloatArray:
    """Return the plasticity at one position from the captured rho, for buckets that keep the share exp(powers)."""
    return np.asarray(2 / np.pi * np.arccos(np.clip(rho / np.exp(powers), -1.0, 1.0)))


def _plasticity_drop(first: FloatArray, last: FloatArray, powers: FloatArray | float) -> FloatArray:
    """Return first minus last plasticity, for buckets that keep exp(powers) times as much at the last position."""
    return np.asarray(_plasticity(first, 0.0) - _plasticity(last, powers))


def _least_factor(
    values_for: Callable[[FloatArray], FloatArray],
    outcome: FloatArray,
    units: int,
    is_absent: bool,
    basis: FloatArray | None = None,
    towards: float = 0.0,
) -> float | None:
    """Return the least factor that removes a correlation for some choice of the units' exponents.

    If the correlation is absent, return the least factor that creates one: of the sign `towards`, or of either sign if
    `towards` is 0.
    """
    basis = np.ones((len(outcome), 1)) if basis is None else basis
    df = len(outcome) - basis.shape[1] - 1
    critical = float(t.ppf(1 - LEVEL / 2, df) / np.sqrt(df + t.ppf(1 - LEVEL / 2, df) ** 2))
    sign = np.sign(_partial_correlations(values_for(np.zeros((1, units))), outcome, basis)[0])

    def is_reversed(factor: float) -> bool:
        correlations = _partial_correlations(values_for(_choices(units) * np.log(factor)), outcome, basis)
        signed = correlations * towards if towards else np.abs(correlations)
        return bool(signed.max() >= critical if is_absent else (correlations * sign).min() <= 0)

    return _least_reversing(is_reversed)


def _partial_correlations(values: FloatArray, outcome: FloatArray, basis: FloatArray) -> FloatArray:
    """Return Pearson's r of each row of values with the outcome after both are regressed on a basis; shape (rows,)."""
    projector = np.eye(len(outcome)) - basis @ np.linalg.pinv(basis)
    x, y = values @ projector, projector @ outcome
    return np.asarray(x @ y / np.sqrt((x**2).sum(1) * (y @ y)))
