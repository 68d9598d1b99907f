"""Whether a conclusion on public models changes if rotation inside buckets is counted."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr, t

from analysis.studies.crossmodel._kept import FloatArray, agreement, one_position_plasticity
from boundpaper.errors import DataError

LEVEL = 0.05
FACTORS = np.round(np.exp(np.arange(0, 1.6, 0.01)), 4)  # tried, from 1 to 4.9
NAMED = {"captured", "checkpoints", "scored"}


class ConclusionInputs:
    """The values that conclusions are about, and the factors that each needs."""

    def __init__(self, *given: Any) -> None:
        captured, deciles, bins, trajectory, equal, self.positions, decline, self.bounds, self.seen = given
        columns = {"ap_overall": "overall", "ap_first_20": "first fifth", "ap_last_20": "last fifth"}
        values = [captured.set_index("model"), trajectory.set_index("checkpoint")]
        table = pd.concat([each[[*columns]].rename(columns=columns) for each in values])
        table = table.join(deciles.set_index("model")[[f"d{place}" for place in range(10)]])
        table = table.join(bins.set_index("model")[["0-8K"]])
        shared = {"at_0_1k": "0-1K", "at_1k_2k": "1K-2K", "at_2k_4k": "2K-4K"}
        self.values = table.join(equal.set_index("checkpoint")[[*shared]].rename(columns=shared))
        once = decline[decline["mode"] == "nonthinking"].set_index("model")
        windows = pd.concat([each["bias_window"] for each in values])
        self.outcomes = {"decline": once["decline"], "lbp": once["lbp"], "bias_window": windows}
        self.more = captured.set_index("model")[["family", "log_parameters"]]
        self.scored = [str(each) for each in once.index]

    def fate(self, row: Any) -> tuple[float | None, float | None, str, str]:
        """Return a conclusion's needed factor, the factor seen, its fate, and the reason why a number is missing."""
        sides = [self._captures_named(row, side) for side in str(row.entities).split("|")]
        if row.compares == "no plasticity":
            return None, None, "survives", "no plasticity enters"
        if row.compares == "one network":
            return None, 1.0, "survives", "one rotation and one set of weights: buckets keep as much"
        if row.compares == "level":
            kept = self.bounds.loc[sides[0], "kept_low"].min()
            return 1.0, float(1 / kept), "falls", ""
        needed, seen = self._seen_factors(row, sides)
        note = "" if needed is not None else f"no factor up to {FACTORS[-1]:.1f} turns it"
        return needed, seen, "survives" if needed is None or needed > seen else "open", note

    def _captures_named(self, row: Any, side: str) -> list[str]:
        names = side.split()
        if set(names) <= NAMED:
            inside = self.bounds["family"] == "SmolLM3"
            groups = {"captured": [*self.bounds.index[~inside]], "checkpoints": [*self.bounds.index[inside]]}
            names = [str(each) for each in (groups | {"scored": self.scored})[names[0]]]
        if absent := sorted(set(names) - set(self.bounds.index)):
            raise DataError(f"bin_conclusions, {row.conclusion}: no capture {absent[0]!r}; see bin_bounds for names")
        return names

    def _ends(self, places: str, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return rho at the first and at the last position."""
        one, two = {"fifths": ("first fifth", "last fifth"), "tenths": ("d0", "d9")}.get(places) or places.split()
        return agreement(self.values.loc[[*names], one]), agreement(self.values.loc[[*names], two])

    def _apart(self, names: Sequence[str]) -> float:
        """Return the factor by which rotations and widths of the captures make `kept` differ, for an even mean."""
        return float(self.bounds.loc[[*names], "kept_high"].max() / self.bounds.loc[[*names], "kept_low"].min())

    def _seen_factors(self, row: Any, sides: list[list[str]]) -> tuple[float | None, float]:
        names = [name for side in sides for name in side]
        # no capture can have kept more than all, nor less than its own values allow
        level = min(self.seen["even"] * self._apart(names), float(1 / self.bounds.loc[names, "kept_least"].min()))
        if row.compares == "fall":
            first, last = self._ends(row.places, names)
            return float((last / first).min()), self.seen["along"]
        if row.compares == "rise":
            deciles = agreement(self.values.loc[names, [f"d{place}" for place in range(10)]])
            rises = [max(one[i] / one[j] for i, j in itertools.combinations(range(10), 2)) for one in deciles]
            return float(min(rises)), self.seen["along"]
        if row.compares == "levels of two":
            less, more = (agreement(self.values.loc[side, row.places].dropna()) for side in sides)
            return float(less.min() / more.max()), level
        if row.compares in ("drops", "no difference"):
            return self._factor_for_equal_drops(row, sides), self.seen["between"]
        if row.compares == "gathered":  # phases differ by a factor; changes along one capture are left aside
            return self._factor_between_phases(), level
        of_levels = "levels" in row.compares
        return self._factor_that_removes(row, names), level if of_levels else self.seen["between"]

    def _factor_for_equal_drops(self, row: Any, sides: list[list[str]]) -> float | None:
        """Return the factor of changes along the context that makes both mean drops equal; None if no factor does."""
        ends = [self._ends(row.places, [name for name in side if self._has(row.places, name)]) for side in sides]
        drops = [_drop(*end, 1.0).mean() for end in ends]
        if row.compares == "no difference":
            return 1.0  # any difference would undo it
        order = np.sign(drops[1] - drops[0])
        for factor in FACTORS:
            one, two = (_drop(*end, factor**power).mean() for end, power in zip(ends, (-0.5, 0.5), strict=True))
            if np.sign(two - one) != order:
                return float(factor)
        return None

    def _has(self, places: str, name: str) -> bool:
        """Tell whether a capture has values at both positions."""
        return bool(np.isfinite(self._ends(places, [name])).all())

    def _factor_that_removes(self, row: Any, names: list[str]) -> float | None:
        """Return the factor at which some choice of captures makes a relation vanish, or an unseen relation appear.

        Every capture has a factor of one over its root, or its root: of changes along the context for drops, of what
        buckets keep for levels.
        """
        outcome = self.outcomes[row.outcome].loc[names].to_numpy(dtype=np.float64)
        taken = [np.ones(len(names))]
        if "inside families" in row.compares:
            taken = [self.more.loc[names, "family"].to_numpy() == each for each in set(self.more.loc[names, "family"])]
        elif "equal size" in row.compares:
            taken = [*taken, self.more.loc[names, "log_parameters"].to_numpy(dtype=np.float64)]
        basis = np.column_stack([np.asarray(each, dtype=np.float64) for each in taken])
        free = len(names) - basis.shape[1] - 1
        critical = float(t.ppf(1 - LEVEL / 2, free) / np.sqrt(free + t.ppf(1 - LEVEL / 2, free) ** 2))
        absent = str(row.compares).startswith("no ")
        make = self._values_by_exponent(row, names)
        sign = np.sign(_both_correlations(make(np.zeros((1, len(names))), 1.0), outcome, basis)[0])
        signs = np.array(list(itertools.product((-0.5, 0.5), repeat=len(names))))
        for factor in FACTORS:
            found = _both_correlations(make(signs, float(factor)), outcome, basis)
            if (np.abs(found).max() >= critical) if absent else (found * sign).min() <= 0:
                return float(factor)
        return None

    def _values_by_exponent(self, row: Any, names: list[str]) -> Callable[[FloatArray, float], FloatArray]:
        """Return a function for the values of the captures at each choice of exponents, shape (choices, captures)."""
        if "levels" in row.compares:
            level = agreement(self.values.loc[names, row.places])
            return lambda signs, factor: one_position_plasticity(2 / np.pi * np.arccos(level), factor**signs)
        first, last = self._ends(row.places, names)
        return lambda signs, factor: _drop(first, last, factor**signs)

    def _factor_between_phases(self) -> float | None:
        """Return the factor between phases at which plasticity follows position as closely as position times bias."""
        table = self.positions
        width = table["checkpoint"].map(self.bounds["width"]).to_numpy()
        rho = agreement(table["plasticity"])
        for factor in FACTORS:
            for powers in itertools.product((-0.5, 0.5), repeat=len(set(width))):
                by_width = dict(zip(sorted(set(width)), powers, strict=True))
                scaled = rho / factor ** np.array([by_width[each] for each in width])
                one, two = (abs(spearmanr(scaled, table[name])[0]) for name in ("gathered_bias", "middle"))
                if one <= two:
                    return float(factor)
        return None


def _drop(first: FloatArray, last: FloatArray, change: float | FloatArray) -> FloatArray:
    """Return first minus last plasticity, if buckets keep `change` times as much at the last position as at first."""
    ends = (2 / np.pi * np.arccos(np.clip(each, -1.0, 1.0)) for each in (first, last / change))
    one, two = ends
    return np.asarray(one - two)


def _both_correlations(values: FloatArray, outcome: FloatArray, basis: FloatArray) -> FloatArray:
    """Return Pearson's r of each row with the outcome, both without what a basis explains; shape (rows,)."""
    left = np.eye(len(outcome)) - basis @ np.linalg.pinv(basis)
    one, two = values @ left, left @ outcome
    return np.asarray(one @ two / np.sqrt((one**2).sum(1) * (two @ two)))
