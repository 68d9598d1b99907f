# ruff: noqa: E402
"""How fast a head is analysed, as ratios in one run.

    python benchmarks/heads.py [--repeat 5] [--model-heads 300]

Baseline: a plain scalar program of the sampled estimator, written here: for each query bucket and each earlier key
bucket up to 256 pairs of keys of one document, drawn one by one, `scipy.stats.norm.cdf` per pair. Its shape: d = 128,
16 buckets of a context of 131,072 tokens, 500 documents. One thread, CPU seconds, least of the repeats; the scalar
program runs once. Prints Markdown tables: ratios against goals, parts of the time with the distance to the limits (an
evaluation of the plasticity polynomial, a matrix product), and a model of many heads on two processes.
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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np
from scipy import special, stats

from analysis.heads import kernel
from analysis.heads.components import position_weights
from analysis.heads.head import Head
from analysis.heads.moments import head_moments
from analysis.heads.pca import pca
from analysis.heads.plasticity import Options, Plasticity, plasticity
from analysis.heads.rotation import rotation
from analysis.heads.summary import summarise

DIMENSION, BUCKETS, CONTEXT, DOCUMENTS, PAIRS, MIN_QUERIES = 128, 16, 131_072, 500, 256, 30
SIZES = (8_192, 50_000)


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


def seconds(action: Callable[[], object], repeat: int) -> float:
    """The least CPU seconds of several runs."""
    runs = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        runs.append(time.process_time() - start)
    return min(runs)


def load(path: Path) -> Head:
    """A head from an uncompressed file."""
    with np.load(path) as found:
        return Head(
            **{name: found[name] for name in found.files if name not in ("context", "buckets")}, context=CONTEXT
        )


def save(head: Head, path: Path) -> None:
    names = ("queries", "query_positions", "query_documents", "keys", "key_positions", "key_documents")
    np.savez(path, **{name: getattr(head, name) for name in names})


def steps(head: Head) -> None:
    """What a head's analysis does besides plasticity."""
    moments = head_moments(head)
    pca(moments)
    rotation(moments, head.context)
    position_weights(moments.queries)


def analysed(path: Path, estimator: str) -> Plasticity:
    """A head's whole analysis, from its file."""
    head = load(path)
    moments = head_moments(head)
    pca(moments)
    rotation(moments, head.context)
    position_weights(moments.queries)
    found = plasticity(head, Options(estimator=estimator), moments.queries)
    summarise(found)
    return found


def analyse_many(path: Path, heads: int, estimator: str) -> None:
    for _ in range(heads):
        analysed(path, estimator)


def ratios(repeat: int, folder: Path) -> None:
    print("| vectors | work | CPU s | pairs | scalar CPU s | ratio | goal |")
    print("|--:|:--|--:|--:|--:|--:|--:|")
    goals = {
        ("all pairs, pooled_full", 8_192): 300,
        ("all pairs, pooled_full", 50_000): 30,
        ("all pairs, bucket_full", 8_192): 60,
        ("all pairs, bucket_full", 50_000): 10,
        ("whole analysis, pooled_full", 8_192): 100,
        ("whole analysis, pooled_full", 50_000): 20,
        ("whole analysis, bucket_full", 8_192): 100,
        ("whole analysis, bucket_full", 50_000): 20,
    }
    for vectors in SIZES:
        head = capture(vectors)
        path = folder / f"{vectors}.npz"
        save(head, path)
        scalar(capture(600))
        start = time.process_time()
        _, drawn = scalar(head)
        baseline = time.process_time() - start
        rest = seconds(lambda path=path: steps(load(path)), repeat)
        print(f"| {vectors:,} | scalar, sampled | {baseline:.2f} | {drawn:,} | {baseline:.2f} | 1 | |")
        for work, estimator in (("all pairs", "pooled_full"), ("all pairs", "bucket_full")):
            options = Options(estimator=estimator)
            found = plasticity(head, options)
            taken = seconds(lambda head=head, options=options: plasticity(head, options), repeat)
            name = f"{work}, {estimator}"
            pairs = int(found.profile.counts.sum())
            print(
                f"| {vectors:,} | {name} | {taken:.4f} | {pairs:,} | {baseline:.2f} "
                f"| 1/{baseline / taken:.0f} | 1/{goals[name, vectors]} |"
            )
        for estimator in ("pooled_full", "bucket_full"):
            taken = seconds(lambda path=path, estimator=estimator: analysed(path, estimator), repeat)
            name = f"whole analysis, {estimator}"
            whole = baseline + rest
            print(
                f"| {vectors:,} | {name} | {taken:.4f} | {pairs:,} | {whole:.2f} "
                f"| 1/{whole / taken:.0f} | 1/{goals[name, vectors]} |"
            )


def limits(repeat: int) -> None:
    """What the machine does at best, to hold the times above against."""
    rng = np.random.default_rng(0)
    gaps, variances, out = rng.normal(size=4096), rng.uniform(0.1, 2.0, 4096), np.empty(4096)
    kernel.plasticities(gaps, variances, out)
    each = seconds(lambda: [kernel.plasticities(gaps, variances, out) for _ in range(500)], repeat) / 500 / 4096
    ours = np.abs(out - (1 - special.erf(gaps / np.sqrt(2 * variances)) ** 2)).max()
    erf = seconds(lambda: [special.erf(gaps) for _ in range(100)], repeat) / 100 / 4096
    print("\n| limit | value |\n|:--|--:|")
    print(f"| plasticity polynomial, ns a pair (error {ours:.1e}) | {each * 1e9:.2f} |")
    print(f"| scipy.special.erf alone, ns | {erf * 1e9:.2f} |")
    speeds = {}
    for kind in (np.float64, np.float32):
        square = rng.normal(size=(2048, 2048)).astype(kind)
        speeds[kind] = 2 * 2048**3 / seconds(lambda square=square: square @ square, repeat)
        print(f"| matrix product {np.dtype(kind).name}, 2048 x 2048, GFLOP/s | {speeds[kind] / 1e9:.0f} |")
    head = capture(SIZES[-1])
    sizes = np.bincount(head.key_documents)
    for estimator in ("pooled_full", "bucket_full"):
        found = plasticity(head, Options(estimator=estimator))
        pairs = int(found.profile.counts.sum())
        taken = seconds(lambda estimator=estimator: plasticity(head, Options(estimator=estimator)), repeat)
        bins = np.clip((found.taus[:, None] / CONTEXT), 0, 1) if estimator == "bucket_full" else np.ones((1, 1))
        eligible = bins * sizes
        # the triangular product by the factor and half of each Gram matrix in single precision, covariances in double
        work = float((eligible * DIMENSION**2 + eligible**2 * DIMENSION).sum()) / speeds[np.float32]
        work += len(head.queries) * DIMENSION**2 / speeds[np.float64]
        print(
            f"| {estimator}, {SIZES[-1]:,} vectors: {pairs * each * 1e3:.0f} ms polynomial + {work * 1e3:.0f} ms "
            f"products at least; taken {taken * 1e3:.0f} ms, times the limit | {taken / (pairs * each + work):.1f} |"
        )


def model(heads: int, folder: Path) -> None:
    """A model's heads on two processes, wall seconds."""
    print("\n| heads | vectors | processes | estimator | wall s | goal |\n|--:|--:|--:|:--|--:|--:|")
    path = folder / f"{SIZES[0]}.npz"
    for estimator in ("bucket_full", "pooled_full"):
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            start = time.perf_counter()
            halves = [heads // 2, heads - heads // 2]
            for done in [pool.submit(analyse_many, path, half, estimator) for half in halves]:
                done.result()
            print(f"| {heads} | {SIZES[0]:,} | 2 | {estimator} | {time.perf_counter() - start:.1f} | 60 |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--model-heads", type=int, default=300)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratios(chosen.repeat, Path(folder))
        limits(chosen.repeat)
        model(chosen.model_heads, Path(folder))


if __name__ == "__main__":
    main()
