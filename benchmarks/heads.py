# ruff: noqa: E402
"""How fast a head is analysed: against a scalar program of the sampled estimator, and against what the machine can do.

    python benchmarks/heads.py [--repeat 5] [--sizes 8192,50000] [--heads 300]

Synthetic heads (d = 128, 16 buckets of a context of 131,072 tokens, 500 documents), one thread, CPU seconds, least of
the repeats, which alternate; the scalar program runs once. It takes for each query bucket and each earlier key bucket
up to 256 pairs of keys of one document, drawn one by one, and `scipy.stats.norm.cdf` a pair. A whole head goes from its
two Parquet files to its measurements, as `build.py heads` does: reading, moments, rotation, components, plasticity of
all pairs, distance to counting. The floor is the sum of what cannot be left out, each part timed alone in the same run:
the products in single precision in these shapes (BLAS), the polynomial a pair, counting comparisons, decompression of
the files and one copy of their vectors. The last table is a model of many heads on two processes.
"""

from __future__ import annotations

import os

# before numpy loads its BLAS
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
from scipy import stats
from scipy.linalg import blas

from analysis.heads import kernel
from analysis.heads.gap import PAIRS_PER_BIN
from analysis.heads.head import Head
from analysis.heads.pairs import competing, limits, pair_counts
from analysis.heads.plasticity import Options, plasticity
from analysis.measure.bar import Bar
from analysis.measure.finding import analyse
from analysis.measure.heads import analysed
from analysis.models import layout
from analysis.models.captures import Capture
from analysis.models.sampling import Head as Place

DIMENSION, BUCKETS, CONTEXT, DOCUMENTS, PAIRS, MIN_QUERIES = 128, 16, 131_072, 500, 256, 30
ESTIMATORS = ("pooled_full", "bucket_full")


def capture(vectors: int, seed: int = 0) -> Head:
    """A head whose tokens are kept at random, as a capture keeps them, with correlated, drifting vectors."""
    rng = np.random.default_rng(seed)

    def side() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = rng.binomial(CONTEXT, vectors / DOCUMENTS / CONTEXT, size=DOCUMENTS)
        positions = np.concatenate([np.sort(rng.choice(CONTEXT, size, replace=False)) for size in sizes])
        mixing = rng.normal(size=(DIMENSION, DIMENSION)) / np.sqrt(DIMENSION)
        noise = rng.normal(size=(positions.size, DIMENSION)) @ mixing
        drift = np.outer(positions / CONTEXT - 0.5, rng.normal(size=DIMENSION))
        rows = (noise + drift + rng.normal(size=DIMENSION)).astype(np.float32)
        return rows, positions, np.repeat(np.arange(DOCUMENTS), sizes)

    queries, query_positions, query_documents = side()
    keys, key_positions, key_documents = side()
    return Head(
        queries=queries,
        query_positions=query_positions,
        query_documents=query_documents,
        keys=keys,
        key_positions=key_positions,
        key_documents=key_documents,
        context=CONTEXT,
        buckets=BUCKETS,
    )


def scalar(head: Head, seed: int = 0) -> tuple[list[float], int]:
    """The sampled estimator, one pair at a time: mean and full covariance of the bucket's queries."""
    rng = np.random.default_rng(seed)
    query_bucket, key_bucket = head.query_bins(BUCKETS), head.key_buckets()
    members: dict[tuple[int, int], list[int]] = {}
    for row, (document, bucket) in enumerate(zip(head.key_documents, key_bucket, strict=True)):
        members.setdefault((int(bucket), int(document)), []).append(row)
    profile, drawn = [], 0
    for bucket in range(BUCKETS):
        queries = head.queries[query_bucket == bucket].astype(np.float64)
        if len(queries) < MIN_QUERIES:
            continue
        mean, covariance = queries.mean(axis=0), np.cov(queries, rowvar=False)
        values = []
        for earlier in range(bucket):
            groups = [rows for (place, _), rows in members.items() if place == earlier and len(rows) > 1]
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


def once(action: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    action()
    return time.process_time() - start


def least(actions: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """The least CPU seconds of several runs of each action, in turns; one run before goes uncounted."""
    for action in actions.values():
        action()
    runs = [{name: once(action) for name, action in actions.items()} for _ in range(repeat)]
    return {name: min(run[name] for run in runs) for name in actions}


def save(head: Head, root: Path, count: int = 1) -> Capture:
    """The head as a capture, `count` times over: every copy is a link to the same two files."""
    sides = (
        ("q", head.queries, head.query_positions, head.query_documents),
        ("k", head.keys, head.key_positions, head.key_documents),
    )
    for side, vectors, positions, documents in sides:
        first = root / layout.folder(0, 0, side) / layout.FILE
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
            place = root / layout.folder(0, number, side) / layout.FILE
            place.parent.mkdir(parents=True, exist_ok=True)
            place.hardlink_to(first)
    heads = tuple(Place(0, number, number) for number in range(count))
    return Capture(root, CONTEXT, CONTEXT // BUCKETS, heads)


def floors(head: Head, found: Capture, repeat: int) -> dict[str, float]:
    """Seconds that each part takes at least on this machine."""
    rng, d = np.random.default_rng(0), DIMENSION
    rows, factor = head.keys - head.keys.mean(axis=0), np.tril(rng.normal(size=(d, d))).astype(np.float32)
    keys = competing(head, "earlier")
    taus = (np.arange(BUCKETS) + 0.5) * CONTEXT / BUCKETS
    counts = keys.eligible(limits(head, "earlier", BUCKETS, taus))
    mean = int(np.diff(keys.starts).mean())
    documents = rng.normal(size=(64, mean, d)).astype(np.float32)
    queries = head.queries[: len(head.queries) // BUCKETS]
    differences, scores = rows[:PAIRS_PER_BIN], np.empty((PAIRS_PER_BIN, len(queries)), np.float32)
    gaps, variances, out = rng.normal(size=4096), rng.uniform(0.1, 2.0, 4096), np.empty(4096)
    table = [parquet.read_table(path) for path in sorted(found.root.glob("*h00*/*.parquet"))]
    flat = arrow.py_buffer(np.concatenate([head.queries, head.keys]).tobytes())
    codec = arrow.Codec("zstd")
    packed = codec.compress(np.ascontiguousarray(np.frombuffer(flat, np.uint8).reshape(-1, 4).T).tobytes())
    assert sum(each.num_rows for each in table) * d * 4 == flat.size
    parts = least(
        {
            "covariance": lambda: rows.T @ rows,
            "factor": lambda: blas.strmm(1.0, factor.T, rows.T, lower=0),
            "Gram": lambda: documents @ documents.transpose(0, 2, 1),
            "polynomial": lambda: kernel.plasticities(gaps, variances, out),
            "scores": lambda: np.matmul(differences, queries.T, out=scores),
            "counting": lambda: np.count_nonzero(scores > 0),
            "unpacking": lambda: codec.decompress(packed, flat.size),
            "copy": lambda: np.frombuffer(flat, np.float32).copy(),
        },
        3 * repeat,
    )
    every = pair_counts(counts)
    # the share of a product of all keys that a law needs, and of Gram matrices one half of each
    gram = parts["Gram"] / 64 / (mean * mean)
    evaluated = parts["polynomial"] / 4096 * every.sum()
    return {
        "pooled_full": parts["covariance"]
        + parts["factor"] * counts[-1].sum() / len(rows)
        + gram * every[-1].sum()
        + evaluated,
        "bucket_full": parts["covariance"]
        + parts["factor"] * counts.sum() / len(rows)
        + gram * every.sum()
        + evaluated,
        "rest": parts["unpacking"]
        + parts["copy"]
        + parts["covariance"]
        + BUCKETS * (parts["scores"] + parts["counting"]),
    }


def comparing(head: Head, repeat: int) -> tuple[float, float]:
    """Seconds of `empirical`, and of nothing but its comparisons in single precision."""
    options = Options(estimator="empirical")
    found = plasticity(head, options)
    compared = float((found.profile.counts * found.queries).sum())
    one, other = np.random.default_rng(0).normal(size=(2, 512)).astype(np.float32)
    taken = least(
        {
            "empirical": lambda: plasticity(head, options),
            "loop": lambda: [kernel.clear(one, other, 0.0) for _ in range(99)],
        },
        repeat,
    )
    return taken["empirical"], taken["loop"] / 99 / 512 * compared


def ratios(sizes: list[int], repeat: int, folder: Path) -> None:
    print("| vectors | work | CPU ms | pairs a second | faster than the scalar program | times the floor |")
    print("|--:|:--|--:|--:|--:|--:|")
    scalar(capture(600))
    for vectors in sizes:
        head = capture(vectors)
        found = save(head, folder / str(vectors))
        before: list[int] = []
        baseline = once(lambda head=head, before=before: before.append(scalar(head)[1]))
        print(f"| {vectors:,} | scalar, sampled | {1e3 * baseline:.0f} | {before[0] / baseline:,.0f} | 1 | |")
        work: dict[str, Callable[[], object]] = {}
        for name in ESTIMATORS:
            options = Options(estimator=name)
            work[f"all pairs, {name}"] = partial(plasticity, head, options)
            work[f"whole head, {name}"] = partial(analyse, found, found.heads[0], options)
        taken, floor = least(work, repeat), floors(head, found, repeat)
        pairs = int(plasticity(head, Options()).profile.counts.sum())
        for name, each in taken.items():
            estimator = name.rpartition(" ")[2]
            low = floor[estimator] + (floor["rest"] if name.startswith("whole") else 0.0)
            print(
                f"| {vectors:,} | {name} | {1e3 * each:.1f} | {pairs / each:,.0f} | {baseline / each:.1f} "
                f"| {each / low:.1f} of {1e3 * low:.1f} ms |",
                flush=True,
            )
        if vectors == min(sizes):
            each, loop = comparing(head, min(repeat, 2))
            print(
                f"| {vectors:,} | all pairs, empirical | {1e3 * each:.0f} | {pairs / each:,.0f} "
                f"| {baseline / each:.1f} | {each / loop:.1f} of {1e3 * loop:.0f} ms (comparisons alone) |",
                flush=True,
            )


def model(heads: int, vectors: int, folder: Path) -> None:
    """A model's heads on two processes: wall seconds, and CPU seconds of both."""
    print("\n| heads | vectors | processes | wall s | CPU s |\n|--:|--:|--:|--:|--:|")
    found = save(capture(vectors), folder / "model", heads)
    start, before = time.perf_counter(), os.times()
    analysed(found, Options(), folder / "kept", 2, Bar())
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"| {heads} | {vectors:,} | 2 | {time.perf_counter() - start:.1f} | {spent:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--sizes", default="8192,50000")
    parser.add_argument("--heads", type=int, default=300, help="of the last table; 0 leaves it out")
    chosen = parser.parse_args()
    arrow.set_cpu_count(1)
    arrow.set_io_thread_count(1)
    sizes = [int(size) for size in chosen.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        ratios(sizes, chosen.repeat, Path(folder))
        if chosen.heads:
            model(chosen.heads, min(sizes), Path(folder))


if __name__ == "__main__":
    main()
