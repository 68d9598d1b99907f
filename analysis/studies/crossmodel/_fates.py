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
FACTORS = np.round(np.exp(np.arange(0, 1.6, 0.01)), 4)  # tried, from 1 to 4.9
NAMED = {"captured", "checkpoints", "scored"}
LAST = "lc-32k-to-64k-step-20000"  # SmolLM3 as it is beside other models


class ConclusionInputs:
    """Values that conclusions depend on, and methods for the factor that would reverse each conclusion."""

    def __init__(self, tables: dict[str, pd.DataFrame]) -> None:
        by_model = {name: table.set_index("model") for name, table in tables.items() if "model" in table}
        captured, trajectory = by_model["captured_models"], tables["training_trajectory"].set_index("checkpoint")
        self.positions, self.bounds = tables["training_positions"], tables["bin_bounds"].set_index("capture")
        self.seen = dict(
            zip(tables["bin_factors"]["factor"], tables["bin_factors"]["value"].astype(float), strict=True)
        )
        self.seen["either"] = max(self.seen["along"], self.seen["back"])
        columns = {"ap_overall": "overall", "ap_first_20": "first fifth", "ap_last_20": "last fifth"}
        values = [captured, trajectory]
        own = by_model["measured_models"].drop(index=[*captured.index], errors="ignore")
        table = pd.concat([frame[[*columns]].rename(columns=columns) for frame in (*values, own)])
        table = table.join(by_model["decile_profiles"][[f"d{place}" for place in range(10)]])
        table = table.join(by_model["bin_profiles"][["0-8K"]])
        table = table.join(by_model["equal_positions"].rename(columns={"mean_32k": "0-32K"})[["0-32K"]])
        equal = by_model["training_comparison"].rename(index={"smollm3-3b": LAST})
        table = table.join(
            pd.DataFrame({"first of 64K": equal["far_same"] + equal["drop_same"], "last of 64K": equal["far_same"]})
        )
        ranges = {"at_0_1k": "0-1K", "at_1k_2k": "1K-2K", "at_2k_4k": "2K-4K"}
        self.values = table.join(
            tables["training_equal_positions"].set_index("checkpoint")[[*ranges]].rename(columns=ranges)
        )
        decline = by_model["length_decline"]
        direct = decline[decline["mode"] == "nonthinking"]
        windows = pd.concat([value["bias_window"] for value in values])
        self.outcomes = {"decline": direct["decline"], "lbp": direct["lbp"], "bias_window": windows}
        self.outcomes |= {"points": direct["lbp_8k"] - direct["lbp_128k"], "ruler": captured["ruler_128k"]}
        self.more = captured[["family", "log_parameters"]]
        self.scored = [str(model) for model in direct.index]
        lengths, ruler = tables["lbp_lengths"], tables["ruler_lengths"].rename(columns={"ruler": "score"})
        lengths = pd.concat([lengths.rename(columns={"lbp": "score"}), ruler.assign(mode="ruler")])
        self.lengths = lengths.dropna(subset=["plasticity"])

    def fate(self, row: Any) -> tuple[float | None, float | None, str, str]:
        """Return a conclusion's needed factor, the observed factor, its fate, and the reason for a missing number."""
        sides = [self._captures_named(row, side) for side in str(row.entities).split("|")]
        if row.compares == "no plasticity":
            return None, None, "survives", ""
        if row.compares == "one network":
            return None, 1.0, "survives", ""
        if row.compares == "level":
            share = self.bounds.loc[sides[0], "kept_low"].min()
            return 1.0, float(1 / share), "falls", ""
        needed, seen = self._seen_factors(row, sides)
        note = "" if needed is not None else f"no factor up to {FACTORS[-1]:.1f} turns it"
        return needed, seen, "survives" if needed is None or needed > seen else "open", note

    def _captures_named(self, row: Any, side: str) -> list[str]:
        names = side.split()
        if set(names) <= NAMED:
            smollm = self.bounds["family"] == "SmolLM3"
            groups = {"captured": [*self.bounds.index[~smollm]], "checkpoints": [*self.bounds.index[smollm]]}
            names = [str(name) for name in (groups | {"scored": self.scored})[names[0]]]
        if absent := sorted(set(names) - set(self.values.index)):
            raise DataError(f"bin_conclusions, {row.conclusion}: no capture {absent[0]!r}; see bin_bounds for names")
        return names

    def _end_rhos(self, places: str, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return rho at the first and at the last position."""
        ends = {"fifths": "first fifth, last fifth", "tenths": "d0, d9", "64K": "first of 64K, last of 64K"}
        one, two = ends.get(places, places.replace(" ", ", ")).split(", ")
        return agreement(self.values.loc[[*names], one]), agreement(self.values.loc[[*names], two])

    def _deciles(self, names: Sequence[str]) -> FloatArray:
        return self.values.loc[[*names], [f"d{place}" for place in range(10)]].to_numpy(dtype=np.float64)

    def _level(self, names: Sequence[str]) -> float:
        """Return the largest factor between the shares that the captures keep of the mean query.

        It is the factor for an even mean, times the largest error of that estimate. A capture keeps at most everything,
        and at least what its own values require.
        """
        bounds = self.bounds.loc[[*names]]
        spread = float(bounds["kept_high"].max() / bounds["kept_low"].min())
        return float(min(self.seen["even"] * spread, 1 / bounds["kept_least"].min()))

    def _seen_factors(self, row: Any, sides: list[list[str]]) -> tuple[float | None, float]:
        names = [name for side in sides for name in side]
        if row.compares in ("fall", "fall of random weights"):
            first, last = self._end_rhos(row.places, names)
            return float((last / first).min()), self.seen["along" if row.compares == "fall" else "random"]
        if row.compares in ("rise", "no rise"):
            deciles = agreement(self._deciles(names))
            steps = [[decile[i] / decile[j] for i, j in itertools.combinations(range(10), 2)] for decile in deciles]
            if row.compares == "rise":
                return float(min(map(max, steps))), self.seen["back"]
            return float(1 / max(map(max, steps))), self.seen["along"]
        if row.compares in ("halves", "straight"):
            turned = self._halves_turned if row.compares == "halves" else self._straightness_turned
            return _least(lambda factor: turned(sides, factor)), self.seen["either"]
        if row.compares == "levels of two":
            lower, upper = (agreement(self.values.loc[side, row.places].dropna()) for side in sides)
            return float(lower.min() / upper.max()), self._level(names)
        if row.compares in ("drops", "no difference"):
            return self._factor_for_equal_drops(row, sides), self.seen["between"]
        if row.compares == "gathered":  # phases differ by a factor; changes within one capture are ignored
            return self._factor_between_phases(), self._level(names)
        if row.compares == "no relation along one capture":
            cells = self.lengths[(self.lengths["model"] == names[0]) & (self.lengths["mode"] == row.outcome)]
            rho, score = agreement(cells["plasticity"]), cells["score"].to_numpy(dtype=np.float64)
            return _relation(lambda powers: np.diff(_plastic(rho, powers)), np.diff(score), len(rho), True), self.seen[
                "either"
            ]
        if row.compares == "no relation of levels by length":
            found = []
            for _, cells in self.lengths[self.lengths["mode"] != "ruler"].groupby(["mode", "length"]):
                make = functools.partial(_plastic, agreement(cells["plasticity"]))
                found.append(_relation(make, cells["score"].to_numpy(dtype=np.float64), len(cells), True, towards=1.0))
            return min((factor for factor in found if factor is not None), default=None), self._level(names)
        found = [self._factor_that_removes(row, side) for side in sides]
        smallest = min((factor for factor in found if factor is not None), default=None)
        return smallest, self._level(names) if "levels" in row.compares else self.seen["between"]

    def _halves_turned(self, sides: list[list[str]], factor: float) -> bool:
        """Tell whether some choice of what is kept at each place makes the second half fall more than the first."""
        rho = agreement(self._deciles(sides[0])[:, [0, 4, 5, 9]])
        a, b, c, d = (_plastic(rho, _choices(4)[:, None] * np.log(factor))[..., place] for place in range(4))
        return bool((a - b <= c - d).any())

    def _straightness_turned(self, sides: list[list[str]], factor: float) -> bool:
        """Tell whether some choice of what is kept at each place makes the first side as straight as the second.

        A side's straightness is the smallest R squared of a line among its captures.
        """
        fits = []
        for side, extreme in zip(sides, (np.max, np.min), strict=True):
            values = _plastic(agreement(self._deciles(side)), _choices(10)[:, None] * np.log(factor))
            residual = values - values.mean(-1, keepdims=True)
            line = np.arange(10) - 4.5
            fits.append(extreme((residual @ line) ** 2 / ((residual**2).sum(-1) * (line @ line)), axis=0).min())
        return bool(fits[0] >= fits[1])

    def _factor_for_equal_drops(self, row: Any, sides: list[list[str]]) -> float | None:
        """Return the factor of changes along the context that makes both mean drops equal; None if no factor does."""
        families = [
            self._end_rhos(row.places, [name for name in side if self._has_values(row.places, name)]) for side in sides
        ]
        if row.compares == "no difference":
            return 1.0  # any difference would undo it
        order = np.sign(np.subtract(*(_plasticity_drop(*end, 0.0).mean() for end in families)))

        def turned(factor: float) -> bool:
            drops = (
                _plasticity_drop(*end, power * np.log(factor)).mean()
                for end, power in zip(families, (-0.5, 0.5), strict=True)
            )
            return bool(np.sign(np.subtract(*drops)) != order)

        return _least(turned)

    def _has_values(self, places: str, name: str) -> bool:
        """Return whether a capture has values at both positions."""
        return bool(np.isfinite(self._end_rhos(places, [name])).all())

    def _factor_that_removes(self, row: Any, names: list[str]) -> float | None:
        """Return the factor at which some choice of captures removes a relation, or creates an unobserved one.

        Every capture is multiplied by the root of the factor, or divided by it: its change along the context for
        drops, its kept share for levels.
        """
        outcome = self.outcomes[row.outcome].loc[names].to_numpy(dtype=np.float64)
        taken = [np.ones(len(names))]
        if "inside families" in row.compares:
            taken = [self.more.loc[names, "family"].to_numpy() == each for each in set(self.more.loc[names, "family"])]
        elif "equal size" in row.compares:
            taken = [*taken, self.more.loc[names, "log_parameters"].to_numpy(dtype=np.float64)]
        basis = np.column_stack([np.asarray(column, dtype=np.float64) for column in taken])
        if "levels" in row.compares:
            level = agreement(self.values.loc[names, row.places])
            return _relation(
                lambda powers: _plastic(level, powers), outcome, len(names), row.compares[:3] == "no ", basis
            )
        rhos = self._end_rhos(row.places, names)
        return _relation(
            lambda powers: _plasticity_drop(*rhos, powers), outcome, len(names), row.compares[:3] == "no ", basis
        )

    def _factor_between_phases(self) -> float | None:
        """Return the factor between phases at which plasticity follows position as closely as position times bias."""
        table = self.positions
        width = table["checkpoint"].map(self.bounds["width"]).to_numpy()
        rho, wide = agreement(table["plasticity"]), sorted(set(width))

        def turned(factor: float) -> bool:
            for powers in _choices(len(wide)):
                by_width = dict(zip(wide, powers, strict=True))
                scaled = rho / factor ** np.array([by_width[size] for size in width])
                by_bias, by_place = (abs(spearmanr(scaled, table[name])[0]) for name in ("gathered_bias", "middle"))
                if by_bias <= by_place:
                    return True
            return False

        return _least(turned)


def _least(turned: Callable[[float], bool]) -> float | None:
    """Return the smallest of the tried factors that turns a conclusion; None if none does."""
    return next((float(factor) for factor in FACTORS if turned(float(factor))), None)


def _choices(places: int) -> FloatArray:
    """Return all ways to keep a root of a factor more or less at each place: exponents, shape (choices, places)."""
    return np.array(list(itertools.product((-0.5, 0.5), repeat=places)))


def _plastic(rho: FloatArray, powers: FloatArray | float) -> FloatArray:
    """Return the plasticity at one position for rho as captured, where buckets keep exp(powers)."""
    return np.asarray(2 / np.pi * np.arccos(np.clip(rho / np.exp(powers), -1.0, 1.0)))


def _plasticity_drop(first: FloatArray, last: FloatArray, powers: FloatArray | float) -> FloatArray:
    """Return first minus last plasticity, if buckets keep exp(powers) times as much at the last place."""
    return np.asarray(_plastic(first, 0.0) - _plastic(last, powers))


def _relation(
    make: Callable[[FloatArray], FloatArray],
    outcome: FloatArray,
    units: int,
    absent: bool,
    basis: FloatArray | None = None,
    towards: float = 0.0,
) -> float | None:
    """Return the least factor that removes a correlation for some choice of units.

    If the correlation is `absent`, return the least factor that creates one, of the sign `towards` or of any.
    """
    basis = np.ones((len(outcome), 1)) if basis is None else basis
    free = len(outcome) - basis.shape[1] - 1
    critical = float(t.ppf(1 - LEVEL / 2, free) / np.sqrt(free + t.ppf(1 - LEVEL / 2, free) ** 2))
    sign = np.sign(_both_correlations(make(np.zeros((1, units))), outcome, basis)[0])

    def turned(factor: float) -> bool:
        correlations = _both_correlations(make(_choices(units) * np.log(factor)), outcome, basis)
        signed = correlations * towards if towards else np.abs(correlations)
        return bool(signed.max() >= critical if absent else (correlations * sign).min() <= 0)

    return _least(turned)


def _both_correlations(values: FloatArray, outcome: FloatArray, basis: FloatArray) -> FloatArray:
    """Return Pearson's r of each row with the outcome, after regressing both on a basis; shape (rows,)."""
    projector = np.eye(len(outcome)) - basis @ np.linalg.pinv(basis)
    x, y = values @ projector, projector @ outcome
    return np.asarray(x @ y / np.sqrt((x**2).sum(1) * (y @ y)))
