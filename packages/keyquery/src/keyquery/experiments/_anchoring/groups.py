"""Group test samples in several ways, and make the rows of the anchoring experiment for each group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keyquery.experiments._anchoring.data import ANSWER, QUESTION
from keyquery.experiments._anchoring.probe import Bools, Floats, LayerSummary, Readings, auroc, summary
from keyquery.measure.rows import Row, row

DRAWS = 2000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TestSamples:
    """Test samples of one seed, or of all seeds together.

    `full` has the readings of probes trained on all units; `first_half` and `second_half` have those of probes trained
    on one half of the units. For each sample, `unit_names` has its unit, `reference_layers` the reference layer of its
    seed, and `kinds` its designed kind (empty if unknown).
    """

    full: Readings
    first_half: Readings
    second_half: Readings
    right: Bools
    unit_names: tuple[str, ...]
    kinds: tuple[str, ...]
    reference_layers: Ints

    @property
    def units(self) -> Ints:
        """Index of each sample's unit, from 0."""
        return np.unique(np.asarray(self.unit_names), return_inverse=True)[1].astype(np.int64)


def pool_seeds(by_seed: Sequence[TestSamples]) -> TestSamples:
    """Return the test samples of all seeds together."""

    def pooled_readings(probes: str) -> Readings:
        readings = [getattr(samples, probes) for samples in by_seed]
        fields = ("before", "cut", "control", "filler")
        return Readings(*(np.concatenate([getattr(each, field) for each in readings]) for field in fields))

    return TestSamples(
        full=pooled_readings("full"),
        first_half=pooled_readings("first_half"),
        second_half=pooled_readings("second_half"),
        right=np.concatenate([samples.right for samples in by_seed]),
        unit_names=tuple(name for samples in by_seed for name in samples.unit_names),
        kinds=tuple(kind for samples in by_seed for kind in samples.kinds),
        reference_layers=np.concatenate([samples.reference_layers for samples in by_seed]),
    )


def probe_rows(data: str, samples: TestSamples) -> Iterator[Row]:
    """Yield rows of how well probes separate right from wrong, over all samples and over those of kind "question"."""
    kinds = np.asarray(samples.kinds)
    groups = {"all": np.ones(len(kinds), dtype=bool)}
    if samples.kinds[0]:  # one kind is always wrong, so only the other kind has both classes
        groups[QUESTION] = kinds == QUESTION
    for group, members in groups.items():
        condition = f"{data}/probe/{group}"
        scores, right, units = samples.full.before[members], samples.right[members], samples.units[members]
        n = len(np.unique(units))
        area, *interval = auroc(scores, right, units, DRAWS)
        for name, values in zip(("auroc", "auroc_low", "auroc_high"), (area, *interval), strict=True):
            for layer, value in enumerate(values):
                reason = (
                    "one class" if np.isnan(area[layer]) else f"a bootstrap over {n} units covers less than it says"
                )
                yield row(name, float(value), n, condition=condition, layer=layer, reason=_absent(value, reason))
        for layer, value in enumerate(((scores >= 0.5) == right[:, None]).mean(0)):
            yield row("accuracy", 100 * float(value), n, condition=condition, layer=layer)


def group_rows(data: str, samples: TestSamples) -> Iterator[Row]:
    """Yield rows of Delta P by knockout, of its excess over the control, and of flips, by group and layer."""
    for grouping, readings, groups in _groupings(samples):
        values: dict[str, Floats] = {
            "delta_p": readings.probability_change(),
            "control": readings.probability_change("control"),
            "excess": readings.probability_change() - readings.probability_change("control"),
        }
        if np.isfinite(readings.filler).any():
            values["filler"] = readings.probability_change("filler")
        if grouping in ("design", "all"):
            values["question_share"] = 100 * readings.flips().astype(np.float64)
        for group, members in groups.items():
            for name, value in values.items():
                bounds = (0.0, 100.0) if name == "question_share" else (-np.inf, np.inf)
                layer_summary = summary(value, samples.units, members, DRAWS, bounds)
                yield from _summary_rows(f"{data}/{grouping}/{group}", name, layer_summary)


def _groupings(samples: TestSamples) -> Iterator[tuple[str, Readings, dict[str, Bools]]]:
    """Yield each grouping: its name, the readings to use, and for each group the mask of its samples, shape (n, L)."""
    flips = samples.full.flips()
    flips_at_reference = np.take_along_axis(flips, samples.reference_layers[:, None], axis=1)
    reference_flips = np.broadcast_to(flips_at_reference, flips.shape)
    first_half_flips = samples.first_half.flips()
    yield "all", samples.full, {"all": np.ones_like(flips)}
    yield "layer", samples.full, {QUESTION: flips, ANSWER: ~flips}
    yield "reference", samples.full, {QUESTION: reference_flips, ANSWER: ~reference_flips}
    yield "half", samples.second_half, {QUESTION: first_half_flips, ANSWER: ~first_half_flips}
    if samples.kinds[0]:
        kinds = np.asarray(samples.kinds)[:, None]
        yield "design", samples.full, {kind: np.broadcast_to(kinds == kind, flips.shape) for kind in (QUESTION, ANSWER)}


def _summary_rows(condition: str, name: str, summary: LayerSummary) -> Iterator[Row]:
    for layer, n in enumerate(summary.n.tolist()):
        no_sample = "" if n else "no sample in this group"
        values_by_metric = {name: summary.mean, f"{name}_low": summary.low, f"{name}_high": summary.high}
        if name != "question_share":
            values_by_metric[f"{name}_sd"] = summary.sd
        for metric, values in values_by_metric.items():
            spread = "one unit has no spread" if n == 1 else f"all {n} units are equal: they show no spread"
            reason = no_sample or _absent(values[layer], spread)
            yield row(metric, float(values[layer]), n, condition=condition, layer=layer, reason=reason)
        if name == "delta_p":
            yield row("samples", int(summary.samples[layer]), n, condition=condition, layer=layer)


def _absent(value: float, reason: str) -> str:
    return "" if np.isfinite(value) else reason
