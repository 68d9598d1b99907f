"""Analyse one captured head, and store the results as JSON, so that no head is analysed twice."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from boundpaper.errors import DataError
from boundpaper.store.files import digest
from keyquery.heads.components import position_weights
from keyquery.heads.gap import gaps_to_empirical
from keyquery.heads.head import Head
from keyquery.heads.laws import ALIGNED
from keyquery.heads.missing import BinnedValues, Scalar
from keyquery.heads.moments import HeadMoments, head_moments
from keyquery.heads.pca import COMPONENTS, pca
from keyquery.heads.plasticity import Plasticity, PlasticityOptions, plasticity, prepare_head
from keyquery.heads.rotation import rotation
from keyquery.heads.summary import LENGTH_NAMES, summarise
from keyquery.measure.cache import JSON, FileForm, cache_name, cached
from keyquery.measure.heads.key_head import KeyHead
from keyquery.models.captures import layout, sampling
from keyquery.models.captures import reading as captures
from keyquery.rotary import Rotary

PLASTICITY = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop")
ROTATION = (
    *("bias_strength", "bias_window", "alpha_q", "alpha_k", "mu_q_a", "mu_k_a", "mu_q_b", "mu_k_b", "r_q_a", "r_k_a"),
    *("separation_strength", "var_frac_a", "var_frac_b", "plane_var", "content_var_b", "residual_pos_r"),
)
COMPONENT = ("pc0_explained", "pc0_r_q", "pc0_r_k", "linear_share_q", "linear_share_k", "beta_norm", "r2_pos")
GAPS = ("gap_by_pair", "gap_by_bin")
METRICS = (*PLASTICITY, *ROTATION, *COMPONENT, *GAPS)
LENGTHS = tuple(f"ap_{name}" for name in LENGTH_NAMES)
PLANE_POINTS = 32  # largest number of queries, and of keys, in the table of the plane; evenly spaced over positions
DECILES = tuple(f"ap_decile_{index}" for index in range(10))


@dataclass
class HeadResult:
    """Results for one head; JSON values only.

    Parameters
    ----------
    layer, head, key_head : int
        Indices of layer, query head and key head.
    vectors : str
        Content hash of the head's queries and keys.
    queries, keys : int
        Numbers of queries and of keys.
    metrics : dict
        Values by name, from `METRICS`, `DECILES` and `LENGTHS`.
    reasons : dict
        Why a metric has no value, by name.
    kind : str
        What the first principal component encodes; empty if unknown.
    bins : list of dict
        One per query bin: position, queries, pairs, plasticity, mean_gap, spread, reason.
    cells : list of list
        Cells of the map: key distance, query distance (indices), pairs, plasticity.
    competition : list of list
        Cells by query bin and key distance (indices): pairs, mean |m|, mean sqrt(v).
    dimensions : list of list
        R^2 of each original dimension on position, and its weight.
    spectrum : list of list
        By principal component: share of the variance, correlations of queries and keys with position.
    plane : list of list
        Sampled vectors in the plane: 1 for a query or 0 for a key, position, projections on a and b.
    precision : str
        Precision of the matrix products; empty if there are none.
    """

    layer: int
    head: int
    key_head: int
    vectors: str
    queries: int = 0
    keys: int = 0
    metrics: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    bins: list[dict[str, Any]] = field(default_factory=list)
    cells: list[list[float]] = field(default_factory=list)
    competition: list[list[float]] = field(default_factory=list)
    dimensions: list[list[float]] = field(default_factory=list)
    spectrum: list[list[float]] = field(default_factory=list)
    plane: list[list[float]] = field(default_factory=list)
    precision: str = ""

    def set_value(self, name: str, value: float | Scalar) -> None:
        """Record the value of a metric, or the reason why it is missing."""
        scalar = value if isinstance(value, Scalar) else Scalar(float(value), 1)
        if scalar.value is None:
            self.reasons[name] = scalar.reason
        else:
            self.metrics[name] = scalar.value

    def mark_missing(self, names: tuple[str, ...], reason: str) -> None:
        """Mark several metrics as missing for one reason."""
        self.reasons |= dict.fromkeys(names, reason)


Outcome = tuple[HeadResult, bool] | DataError


def load_or_analyse(
    capture: captures.Capture,
    head: sampling.HeadIndex,
    options: PlasticityOptions,
    folder: Path,
    keys: KeyHead | None = None,
) -> tuple[HeadResult, bool]:
    """Return the result of a head, and whether it was already stored in `folder`; if not, compute and store it.

    The file's name is a hash of the vectors, the options and the code of the analysis. `keys` are the head's keys, if
    already loaded for another head. Raises DataError when a file of the head is absent or damaged.
    """
    keys = keys or KeyHead(capture, head, options)
    path, vectors = finding_path(capture, head, options, folder, keys)
    compute = functools.partial(analyse, capture, head, options, vectors, keys)
    return cached(path.stem, compute, folder, FINDING, remember=False)


def analyse_in_turn(
    capture: captures.Capture, heads: Sequence[sampling.HeadIndex], options: PlasticityOptions, folder: Path
) -> Iterator[tuple[sampling.HeadIndex, Outcome]]:
    """Yield the outcomes of analysing heads; consecutive heads with the same keys share one copy of the keys.

    A damaged file is yielded as an error, so that the other heads are still analysed.
    """
    keys: KeyHead | None = None
    for head in heads:
        if keys is None or not keys.are_read_by(head):
            keys = KeyHead(capture, head, options)
        try:
            outcome: Outcome = load_or_analyse(capture, head, options, folder, keys)
        except DataError as error:
            outcome = error
        yield head, outcome


def finding_path(
    capture: captures.Capture,
    head: sampling.HeadIndex,
    options: PlasticityOptions,
    folder: Path,
    keys: KeyHead | None = None,
) -> tuple[Path, str]:
    """Return the path of a head's stored result, and the content hash of the head's vectors."""
    queries = digest(capture.root / layout.folder(head.layer, head.query, "q") / layout.FILE)
    vectors = queries + (keys or KeyHead(capture, head, options)).digest
    cache_arguments = {"options": options, "context": capture.context, "buckets": capture.buckets, "head": head}
    cache_arguments["vectors"] = vectors
    if options.estimator in ALIGNED:
        cache_arguments["rotation"] = capture.rotation(head.layer)
    if (window := capture.window(head.layer)) != (None, False):
        cache_arguments["window"] = window
    if capture.only is not None:
        cache_arguments["documents"] = capture.documents
    return folder / f"{cache_name(analyse, cache_arguments)}{FINDING.suffix}", vectors


FINDING: FileForm[HeadResult] = FileForm(
    ".json", lambda path: HeadResult(**JSON.load(path)), lambda path, finding: JSON.save(path, vars(finding))
)


def analyse(
    capture: captures.Capture,
    head: sampling.HeadIndex,
    options: PlasticityOptions,
    vectors: str = "",
    keys: KeyHead | None = None,
) -> HeadResult:
    """Return a head's rotation, components, position weights, and plasticity with its difference from direct counting.

    If a head is too small or too uniform for a metric, the metric is missing, with a reason. Raises DataError when a
    file of the head is absent or damaged.
    """
    queries, keys = capture.queries(head), keys or KeyHead(capture, head, options)
    rotation = capture.rotation(head.layer)
    window, chunks = capture.window(head.layer)
    finding = HeadResult(head.layer, head.query, head.key, vectors, len(queries.position), len(keys.positions))
    try:
        data = Head(
            queries=queries.vectors,
            query_positions=queries.position.astype(np.int64),
            query_documents=queries.document.astype(np.int64),
            keys=keys.vectors.vectors,
            key_positions=keys.positions,
            key_documents=keys.documents,
            context=capture.context,
            buckets=capture.buckets,
            rotary=rotation if isinstance(rotation, Rotary) else None,
            window=window,
            chunks=chunks,
        )
    except ValueError as error:
        finding.mark_missing((*METRICS, *DECILES, *LENGTHS), str(error))
        return finding
    moments = head_moments(data, options.precision, keys.moments)
    if isinstance(rotation, str) and options.estimator in ALIGNED:
        finding.mark_missing((*PLASTICITY, *DECILES, *LENGTHS, *GAPS), rotation)
    else:
        _add_plasticity(finding, data, moments, options, keys)
    _add_or_mark(finding, ROTATION, lambda: _add_rotation(finding, data, moments, capture.context, options))
    _add_or_mark(finding, COMPONENT[:5], lambda: _add_components(finding, moments))
    weights = position_weights(moments.queries)
    finding.set_value("beta_norm", weights.beta_norm)
    finding.set_value("r2_pos", weights.r_squared_mean)
    finding.dimensions = np.column_stack([weights.r_squared, weights.weights]).tolist()
    return finding


def _add_or_mark(finding: HeadResult, names: tuple[str, ...], add: Callable[[], None]) -> None:
    """Add metrics to a result, or mark them as missing if they cannot be computed."""
    try:
        add()
    except ValueError as error:
        finding.mark_missing(names, str(error))


def _add_rotation(
    finding: HeadResult, data: Head, moments: HeadMoments, context: int, options: PlasticityOptions
) -> None:
    plane = rotation(moments, context, options.separation)
    axes = np.stack([plane.a, plane.b], axis=1)
    for is_query, vectors, positions in ((1, data.queries, data.query_positions), (0, data.keys, data.key_positions)):
        order = np.argsort(positions, kind="stable")
        sample = order[np.linspace(0, len(order) - 1, min(PLANE_POINTS, len(order))).astype(int)]
        points = vectors[sample].astype(np.float64) @ axes
        finding.plane += [
            [is_query, int(position), float(a), float(b)]
            for position, (a, b) in zip(positions[sample], points, strict=True)
        ]
    for name in ROTATION:
        value = getattr(plane, "plane_var_fraction" if name == "plane_var" else name)
        # `residual_pos_r` is zero up to rounding, so its last digits would differ between machines
        finding.set_value(name, round(value, 12) + 0.0 if name == "residual_pos_r" else value)


def _add_components(finding: HeadResult, moments: HeadMoments) -> None:
    components = pca(moments, min(COMPONENTS, moments.pool.mean.size))
    finding.kind = components.kind
    finding.spectrum = np.column_stack([components.explained, components.r_q, components.r_k]).tolist()
    for name, value in zip(COMPONENT[:3], finding.spectrum[0], strict=True):
        finding.set_value(name, value)
    finding.set_value("linear_share_q", components.linear_share_q)
    finding.set_value("linear_share_k", components.linear_share_k)


def _add_plasticity(
    finding: HeadResult, data: Head, moments: HeadMoments, options: PlasticityOptions, keys: KeyHead
) -> None:
    prepared_head = prepare_head(data, options, moments.queries, keys.groups)
    head_plasticity = plasticity(data, options, prepared=prepared_head)
    summary = summarise(head_plasticity)
    finding.precision = head_plasticity.precision
    for name in PLASTICITY:
        finding.set_value(name, getattr(summary, name))
    for names, row in ((DECILES, summary.deciles), (LENGTHS, summary.lengths)):
        for index, name in enumerate(names):
            finding.set_value(name, _scalar_at(row, index))
    if options.estimator == "empirical":
        finding.mark_missing(GAPS, "the estimator itself counts")
    else:
        [gap] = gaps_to_empirical(data, options, (options.estimator,), prepared=prepared_head)
        finding.set_value("gap_by_pair", gap.by_pair)
        finding.set_value("gap_by_bin", gap.by_bin)
    _add_maps(finding, head_plasticity)


def _add_maps(finding: HeadResult, head_plasticity: Plasticity) -> None:
    """Add the profile, the map of plasticity and the mean effects of position and content, without empty cells."""
    sums = head_plasticity.sums
    for index, queries in enumerate(head_plasticity.queries):
        pairs = float(sums.count[index].sum())
        finding.bins.append(
            {
                "position": _finite_or_none(head_plasticity.taus[index]),
                "queries": int(queries),
                "pairs": int(head_plasticity.profile.counts[index]),
                "plasticity": _finite_or_none(head_plasticity.profile.values[index]),
                "mean_gap": float(sums.mean_gap[index].sum()) / pairs if pairs else None,
                "spread": float(sums.spread[index].sum()) / pairs if pairs else None,
                "reason": head_plasticity.profile.reasons[index],
            }
        )
    values, counts = head_plasticity.by_distances()
    finding.cells = [[int(i), int(j), counts[i, j], values[i, j]] for i, j in zip(*np.nonzero(counts), strict=True)]
    gap, spread, counts = head_plasticity.by_distance()
    finding.competition = [
        [int(i), int(j), counts[i, j], gap[i, j], spread[i, j]] for i, j in zip(*np.nonzero(counts), strict=True)
    ]


def _scalar_at(row: BinnedValues, index: int) -> Scalar:
    value = _finite_or_none(row.values[index])
    return Scalar(value, int(row.counts[index]), row.reasons[index])


def _finite_or_none(value: object) -> float | None:
    number = float(cast(float, value))
    return number if np.isfinite(number) else None
