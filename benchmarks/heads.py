# ruff: noqa: E402
"""Time the analysis of a head, compared with a scalar program of the sampled estimator and with a lower bound.

    python benchmarks/heads.py [--repeat 5] [--sizes 8192,50000] [--heads 300]

Heads are synthetic (d = 128, 16 buckets of a context of 131,072 tokens, 500 documents). Each time is the CPU seconds of
the fastest repeat in one thread; compared programs take turns, so that other load on the machine changes little.

- The scalar program draws up to 256 pairs of keys for each query bucket and each earlier key bucket, one by one, and
  calls `scipy.stats.norm.cdf` for each. Both keys of a pair come from one document.
- "Whole head" is the time from the two Parquet files of a head to its result on disk, as in `build.py heads`. For four
  heads that read the same keys, the script prints the time per head.
- The floor is the sum of the operations that every program needs, each timed alone in the same turns: products in
  single precision in these shapes (the faster of BLAS and a compiled loop), one polynomial per pair, counting
  comparisons, hashing, decompression of the files, and one copy of their vectors.

Below the first table stands the time of a whole head by stage. The last table times many heads on two processes.
"""

import os

# set before numpy loads BLAS
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import cProfile
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
from scipy import stats
from scipy.linalg import blas

from benchmarks.clock import seconds_of_one_call
from boundpaper.store.files import digest
from keyquery.heads import gap, head, kernel
from keyquery.heads.competition import all_pairs
from keyquery.heads.head import FloatArray, Head, IntArray
from keyquery.heads.laws import Estimator
from keyquery.heads.moments import class_moments
from keyquery.heads.pairs import competing, eligible_limits, pair_counts
from keyquery.heads.plasticity import PlasticityOptions, bin_and_group, laws_of, plasticity
from keyquery.measure.bar import Bar
from keyquery.measure.heads.analysis import analyse_heads
from keyquery.measure.heads.finding import analyse_in_turn
from keyquery.models.captures import layout, reading
from keyquery.models.captures.reading import Capture
from keyquery.models.captures.sampling import HeadIndex, Letter
from keyquery.rotary import from_theta

DIMENSION, BUCKETS, CONTEXT, DOCUMENTS, PAIRS, MIN_QUERIES = 128, 16, 131_072, 500, 256, 30
ESTIMATORS: tuple[Estimator, ...] = ("pooled_full", "bucket_full", "aligned_full")
ROTARY = from_theta(10_000.0, DIMENSION)  # rotation for `aligned_full`; goal: at most 1.15 times `bucket_full`
MAX_EMPIRICAL = 10_000  # maximum number of vectors at which the estimator `empirical` is timed
GROUP = 4  # number of heads that read the same keys
SCALAR = "scalar, sampled"
STAGES: dict[str, Callable[..., object]] = {
    "hashes of the files": digest,
    "reading and checking them": reading.read,
    "checks of a head": head._check,
    "moments": class_moments,
    "groups and bins": bin_and_group,
    "laws of the bins": laws_of,
    "all pairs": all_pairs,
    "of them compiled": kernel.add_group_pairs,
    "distance to counting": gap.gaps_to_empirical,
}


def synthetic_head(vectors: int, seed: int = 0) -> Head:
    """Return a head with tokens at random positions, as in a capture, and with correlated, drifting vectors."""
    rng = np.random.default_rng(seed)

    def vectors_and_tokens() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = rng.binomial(CONTEXT, vectors / DOCUMENTS / CONTEXT, size=DOCUMENTS)
        positions = np.concatenate([np.sort(rng.choice(CONTEXT, size, replace=False)) for size in sizes])
        mixing = rng.normal(size=(DIMENSION, DIMENSION)) / np.sqrt(DIMENSION)
        noise = rng.normal(size=(positions.size, DIMENSION)) @ mixing
        drift = np.outer(positions / CONTEXT - 0.5, rng.normal(size=DIMENSION))
        rows = (noise + drift + rng.normal(size=DIMENSION)).astype(np.float32)
        return rows, positions, np.repeat(np.arange(DOCUMENTS), sizes)

    queries, query_positions, query_documents = vectors_and_tokens()
    keys, key_positions, key_documents = vectors_and_tokens()
    return Head(
        queries=queries,
        query_positions=query_positions,
        query_documents=query_documents,
        keys=keys,
        key_positions=key_positions,
        key_documents=key_documents,
        context=CONTEXT,
        buckets=BUCKETS,
        rotary=ROTARY,
    )


def scalar_estimate(head: Head, seed: int = 0) -> tuple[list[float], int]:
    """Return the plasticity of each query bucket from sampled pairs, and the number of drawn pairs."""
    rng = np.random.default_rng(seed)
    query_buckets, key_buckets = head.query_bins(BUCKETS), head.key_buckets()
    members: dict[tuple[int, int], list[int]] = {}
    for row, (document, bucket) in enumerate(zip(head.key_documents, key_buckets, strict=True)):
        members.setdefault((int(bucket), int(document)), []).append(row)
    profile, drawn = [], 0
    for bucket in range(BUCKETS):
        queries = head.queries[query_buckets == bucket].astype(np.float64)
        if len(queries) < MIN_QUERIES:
            continue
        mean, covariance = queries.mean(axis=0), np.cov(queries, rowvar=False)
        values = []
        for earlier in range(bucket):
            groups = [
                rows for (bucket_of_rows, _), rows in members.items() if bucket_of_rows == earlier and len(rows) > 1
            ]
            possible = sum(len(rows) * (len(rows) - 1) // 2 for rows in groups)
            weights = np.array([len(rows) * (len(rows) - 1) / 2 for rows in groups])
            cumulated = np.cumsum(weights / weights.sum())
            for _ in range(min(PAIRS, possible)):
                rows = groups[int(np.searchsorted(cumulated, rng.random(), side="right"))]
                first = int(rng.integers(len(rows)))
                second = int(rng.integers(len(rows) - 1))
                second += second >= first
                w = head.keys[rows[first]].astype(np.float64) - head.keys[rows[second]]
                m, v = w @ mean, w @ covariance @ w
                p = stats.norm.cdf(m / np.sqrt(v))
                values.append(4 * p * (1 - p))
        drawn += len(values)
        if values:
            profile.append(float(np.mean(values)))
    return profile, drawn


def fastest_seconds(actions: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Run actions in turns several times, after an uncounted run; return the least CPU seconds of each."""
    for action in actions.values():
        action()
    runs = [{name: seconds_of_one_call(action) for name, action in actions.items()} for _ in range(repeat)]
    return {name: min(run[name] for run in runs) for name in actions}


def save_copies(head: Head, root: Path, count: int = 1) -> Capture:
    """Save a capture with `count` copies of the head, which link to the same two files; return the capture."""
    files: tuple[tuple[Letter, FloatArray, IntArray, IntArray], ...] = (
        ("q", head.queries, head.query_positions, head.query_documents),
        ("k", head.keys, head.key_positions, head.key_documents),
    )
    for letter, vectors, positions, documents in files:
        first = root / layout.folder(0, 0, letter) / layout.FILE
        first.parent.mkdir(parents=True, exist_ok=True)
        columns = [
            arrow.array(head.buckets * positions // head.context, arrow.int32()),
            arrow.array(documents, arrow.int32()),
            arrow.array(positions, arrow.int32()),
            arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), DIMENSION),
            arrow.array([None] * len(vectors), arrow.int32()),
        ]
        with layout.writer(first, DIMENSION) as file:
            file.write_table(arrow.Table.from_arrays(columns, schema=layout.schema(DIMENSION)))
        for number in range(1, count):
            copy = root / layout.folder(0, number, letter) / layout.FILE
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.hardlink_to(first)
    heads = tuple(HeadIndex(0, number, number) for number in range(count))
    return Capture(root, CONTEXT, CONTEXT // BUCKETS, heads, rotations={0: ROTARY})


def needed_operations(head: Head, capture: Capture) -> dict[str, Callable[[], object]]:
    """Return the operations that any program for this analysis needs, as actions to time."""
    rng, d = np.random.default_rng(0), DIMENSION
    rows, factor = head.keys - head.keys.mean(axis=0), np.tril(rng.normal(size=(d, d))).astype(np.float32)
    mean = _mean_keys(head)
    documents = rng.normal(size=(64, mean, d)).astype(np.float32)
    copies = documents.copy()  # for the product of a matrix with itself, numpy computes a half and mirrors it slowly
    count = kernel.SHORT * (kernel.SHORT - 1) // 2
    short, pair_variances = documents.reshape(-1, d)[: kernel.SHORT], np.empty(count)
    zeros = np.zeros(kernel.SHORT)
    queries = head.queries[: len(head.queries) // BUCKETS]
    differences, scores = rows[: gap.PAIRS_PER_BIN], np.empty((gap.PAIRS_PER_BIN, len(queries)), np.float32)
    gaps, variances, out = rng.normal(size=4096), rng.uniform(0.1, 2.0, 4096), np.empty(4096)
    files = sorted(capture.root.glob("*h00*/*.parquet"))
    flat = arrow.py_buffer(np.concatenate([head.queries, head.keys]).tobytes())
    codec = arrow.Codec("zstd")
    packed = codec.compress(np.ascontiguousarray(np.frombuffer(flat, np.uint8).reshape(-1, 4).T).tobytes())
    assert sum(parquet.read_metadata(path).num_rows for path in files) * d * 4 == flat.size
    return {
        "covariance": lambda: rows.T @ rows,
        "factor": lambda: blas.strmm(1.0, factor.T, rows.T, lower=0),
        "Gram": lambda: documents @ copies.transpose(0, 2, 1),
        "Gram, loop": lambda: kernel.short_variances(short, zeros, zeros, pair_variances, count),
        "polynomial": lambda: kernel.plasticities(gaps, variances, out),
        "scores": lambda: np.matmul(differences, queries.T, out=scores),
        "counting": lambda: np.count_nonzero(scores > 0),
        "hashes": lambda: [digest(path) for path in files],
        "unpacking": lambda: codec.decompress(packed, flat.size),
        "copy": lambda: np.frombuffer(flat, np.float32).copy(),
    }


def _mean_keys(head: Head) -> int:
    """Return the mean number of keys per document."""
    return len(head.keys) // DOCUMENTS


def least_seconds(head: Head, seconds: dict[str, float]) -> dict[str, float]:
    """Return a lower bound of the seconds of each kind of work, computed from the seconds of the needed operations."""
    keys = competing(head.keys, head.key_positions, head.key_documents, head.context, head.buckets, "earlier")
    taus = (np.arange(BUCKETS) + 0.5) * CONTEXT / BUCKETS
    counts = keys.eligible(eligible_limits(head, "earlier", BUCKETS, taus))
    pairs = pair_counts(counts)
    # only half of a Gram matrix is needed
    mean = _mean_keys(head)
    gram = min(seconds["Gram"] / 64 / (mean * mean), seconds["Gram, loop"] / (kernel.SHORT * (kernel.SHORT - 1) // 2))
    evaluated = seconds["polynomial"] / 4096 * pairs.sum()
    # a law's share of the product of all keys
    share = seconds["factor"] / len(keys.vectors)
    return {
        "pooled_full": seconds["covariance"] + share * counts[-1].sum() + gram * pairs[-1].sum() + evaluated,
        "bucket_full": seconds["covariance"] + share * counts.sum() + gram * pairs.sum() + evaluated,
        "rest": sum(seconds[name] for name in ("hashes", "unpacking", "copy", "covariance"))
        + BUCKETS * (seconds["scores"] + seconds["counting"]),
        # work shared by heads of a group: hash, unpacking and copy of the keys, and covariance
        "shared": 0.5 * sum(seconds[name] for name in ("hashes", "unpacking", "copy")) + seconds["covariance"],
    }


def time_comparisons(head: Head, repeat: int) -> tuple[float, float]:
    """Return the seconds of the estimator `empirical`, and of its comparisons in single precision alone."""
    options = PlasticityOptions(estimator="empirical")
    result = plasticity(head, options)
    comparisons = float((result.profile.counts * result.queries).sum())
    one, other = np.random.default_rng(0).normal(size=(2, 512)).astype(np.float32)
    seconds = fastest_seconds(
        {
            "empirical": lambda: plasticity(head, options),
            "loop": lambda: [kernel.count_clear(one, other, 0.0) for _ in range(99)],
        },
        repeat,
    )
    return seconds["empirical"], seconds["loop"] / 99 / 512 * comparisons


def print_ratios(sizes: list[int], repeat: int, folder: Path) -> None:
    lines: list[str] = []
    print("| vectors | work | CPU ms | pairs a second | faster than the scalar program | times the floor |")
    print("|--:|:--|--:|--:|--:|--:|")
    scalar_estimate(synthetic_head(600))
    for vectors in sizes:
        head = synthetic_head(vectors)
        capture = save_copies(head, folder / str(vectors), GROUP)
        drawn: list[int] = []
        folders = (folder / f"kept-{vectors}-{number}" for number in itertools.count())

        def whole(
            heads: tuple[HeadIndex, ...],
            options: PlasticityOptions,
            capture: Capture = capture,
            folders: Iterator[Path] = folders,
        ) -> None:
            list(analyse_in_turn(capture, heads, options, next(folders)))

        alone, group = capture.heads[:1], tuple(HeadIndex(0, number, 0) for number in range(GROUP))
        work: dict[str, Callable[[], object]] = {
            SCALAR: partial(lambda head, drawn: drawn.append(scalar_estimate(head)[1]), head, drawn)
        }
        for estimator in ESTIMATORS:
            options = PlasticityOptions(estimator=estimator)
            work[f"all pairs, {estimator}"] = partial(plasticity, head, options)
            work[f"whole head, {estimator}"] = partial(whole, alone, options)
            work[f"one of {GROUP} heads, {estimator}"] = partial(whole, group, options)
        seconds = fastest_seconds(work | needed_operations(head, capture), repeat)
        floor, baseline = least_seconds(head, seconds), seconds[SCALAR]
        print(f"| {vectors:,} | {SCALAR} | {1e3 * baseline:.0f} | {drawn[0] / baseline:,.0f} | 1 | |")
        floor["aligned_full"] = floor["bucket_full"]
        pairs = int(plasticity(head, PlasticityOptions()).profile.counts.sum())
        for name in list(work)[1:]:
            low = floor[name.rpartition(" ")[2]] + (0.0 if name.startswith("all") else floor["rest"])
            time_taken = seconds[name]
            if name.startswith("one"):
                low, time_taken = low - floor["shared"] * (GROUP - 1) / GROUP, time_taken / GROUP
            print(
                f"| {vectors:,} | {name} | {1e3 * time_taken:.1f} | {pairs / time_taken:,.0f} "
                f"| {baseline / time_taken:.1f} | {time_taken / low:.1f} of {1e3 * low:.1f} ms |",
                flush=True,
            )
        for what in ("all pairs", "whole head"):
            turned, pooled = (seconds[f"{what}, {name}"] for name in ("aligned_full", "bucket_full"))
            print(f"| {vectors:,} | {what}, aligned_full over bucket_full | {turned / pooled:.2f} (goal 1.15) | | | |")
        if vectors <= MAX_EMPIRICAL:  # the cost of `empirical` grows with the square of the number of vectors
            empirical, loop = time_comparisons(head, min(repeat, 2))
            print(
                f"| {vectors:,} | all pairs, empirical | {1e3 * empirical:.0f} | {pairs / empirical:,.0f} "
                f"| {baseline / empirical:.1f} | {empirical / loop:.1f} of {1e3 * loop:.0f} ms (comparisons alone) |",
                flush=True,
            )
        needed = {name: 1e3 * seconds[name] for name in needed_operations(head, capture)}
        lines.append(
            f"{vectors:,} vectors: " + ", ".join(f"{name} {milliseconds:.3g}" for name, milliseconds in needed.items())
        )
        for estimator in ESTIMATORS:
            stages = stage_seconds(partial(whole, alone, PlasticityOptions(estimator=estimator)), repeat)
            times = ", ".join(f"{stage} {1e3 * stage_time:.0f}" for stage, stage_time in stages.items())
            lines.append(f"{vectors:,} vectors, whole head, {estimator}: {times}")
    print("\nParts of the floor, each once (ms), and where the time of a whole head goes (ms, under a profiler):\n")
    print("\n".join(f"- {line}" for line in lines))


def stage_seconds(action: Callable[[], object], repeat: int) -> dict[str, float]:
    """Return the CPU seconds of each stage in the fastest of several profiled runs."""
    runs = []
    for _ in range(repeat):
        watch = cProfile.Profile(time.process_time)
        watch.runcall(action)
        runs.append(watch.getstats())
    total, entries = min(((sum(entry.inlinetime for entry in run), run) for run in runs), key=lambda pair: pair[0])
    seconds = dict.fromkeys(STAGES, 0.0)
    for entry in entries:
        if isinstance(entry.code, str):  # a function of the interpreter
            continue
        for stage, function in STAGES.items():
            if entry.code is getattr(function, "py_func", function).__code__:
                seconds[stage] += entry.totaltime
    in_stages = sum(spent for stage, spent in seconds.items() if not stage.startswith("of them"))
    return seconds | {"the rest": total - in_stages}


def time_model(heads: int, vectors: int, folder: Path) -> None:
    """Time many heads on two processes; print wall seconds, and CPU seconds of both."""
    print("\n| heads | vectors | processes | wall s | CPU s | CPU s a process |\n|--:|--:|--:|--:|--:|--:|")
    captured = save_copies(synthetic_head(vectors), folder / "model", heads)
    start, before = time.perf_counter(), os.times()
    analyse_heads(captured, PlasticityOptions(), folder / "kept", 2, Bar())
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"| {heads} | {vectors:,} | 2 | {time.perf_counter() - start:.1f} | {spent:.1f} | {spent / 2:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--sizes", default="8192,50000")
    parser.add_argument("--heads", type=int, default=300, help="Number of heads in the last table; 0 skips it.")
    chosen = parser.parse_args()
    arrow.set_cpu_count(1)
    arrow.set_io_thread_count(1)
    sizes = [int(size) for size in chosen.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        print_ratios(sizes, chosen.repeat, Path(folder))
        if chosen.heads:
            time_model(chosen.heads, min(sizes), Path(folder))


if __name__ == "__main__":
    main()
