"""Heads for tests, and attention plasticity computed pair by pair from the definitions."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import ndtr

from keyquery.heads.head import Head
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.rotary import NO_ROTATION


def head_with(seed: int = 0, **changes: Any) -> Head:
    """Return a head with correlated, drifting vectors, documents of unequal length, and shuffled rows."""
    settings = {"queries": 240, "keys": 60, "dimension": 6, "documents": 4, "context": 800, "buckets": 8, "drift": 1.0}
    settings |= changes
    rng = np.random.default_rng(seed)

    def vectors(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        positions = rng.integers(0, settings["context"], n)
        mixing = rng.normal(size=(settings["dimension"], settings["dimension"]))
        drift = np.outer(positions / settings["context"] - 0.3, rng.normal(size=settings["dimension"]))
        rows = rng.normal(size=(n, settings["dimension"])) @ mixing + settings["drift"] * drift
        return rows + 0.5 * rng.normal(size=settings["dimension"]), positions, rng.integers(0, settings["documents"], n)

    queries, query_positions, query_documents = vectors(settings["queries"])
    keys, key_positions, key_documents = vectors(settings["keys"])
    return Head(
        queries=queries, query_positions=query_positions, query_documents=query_documents, keys=keys,
        key_positions=key_positions, key_documents=key_documents, context=settings["context"],
        buckets=settings["buckets"], rotary=NO_ROTATION, window=settings.get("window"),
        chunks=settings.get("chunks", False),
    )  # fmt: skip


def exact(**changes: Any) -> PlasticityOptions:
    """Return options with double precision that accept bins of 10 queries or more."""
    return PlasticityOptions(**({"precision": "double", "min_queries": 10} | changes))


def reference(head: Head, estimator: str, pairs: str, bins: int, min_queries: int) -> dict[str, Any]:
    """Return profile, pairs, exclusions and per-pair records of every bin, computed by scalar loops."""
    return references(head, [estimator], pairs, bins, min_queries)[estimator]


def references(
    head: Head, estimators: Iterable[str], pairs: str, bins: int, min_queries: int
) -> dict[str, dict[str, Any]]:
    """Return the results of `reference` by estimator; the competing keys are found once for all estimators."""
    query_bin = [int(t) * bins // head.context for t in head.query_positions]
    bucket = [int(t) * head.buckets // head.context for t in head.key_positions]
    documents, positions = head.key_documents.tolist(), head.key_positions.tolist()
    same_document = [(i, j) for i in range(len(positions)) for j in range(i) if documents[i] == documents[j]]
    results: dict[str, dict[str, Any]] = {
        name: {"profile": [], "counts": [], "records": [], "left_out": []} for name in estimators
    }
    for b in range(bins):
        members = [i for i, bin_ in enumerate(query_bin) if bin_ == b]
        tau = sum(int(head.query_positions[i]) for i in members) / len(members) if members else float("nan")
        enough = len(members) >= min_queries
        candidates = [
            (i, j) for i, j in same_document if enough and eligible(head, i, j, b, bins, tau, pairs, bucket, positions)
        ]
        for name, result in results.items():
            counted, same_key, no_variance = [], 0, 0
            mean, covariance = law(head, members, tau, name) if enough else (np.zeros(0), np.zeros((0, 0)))
            for i, j in candidates:
                w = head.keys[i].astype(np.float64) - head.keys[j].astype(np.float64)
                length, v, m = float(w @ w), float(w @ covariance @ w), float(w @ mean)
                if length == 0:
                    same_key += 1
                elif v <= 1e-12 * length * np.trace(covariance) / len(mean):
                    no_variance += 1
                else:
                    counted.append((i, j, m, v, pair_plasticity(head, members, w, m, v, name)))
            result["profile"].append(sum(pair[4] for pair in counted) / len(counted) if counted else float("nan"))
            result["counts"].append(len(counted))
            result["left_out"].append((same_key, no_variance))
            result["records"].append((tau, counted))
    return {name: result | {"profile": np.array(result["profile"])} for name, result in results.items()}


def pair_plasticity(head: Head, members: list[int], w: np.ndarray, m: float, v: float, estimator: str) -> float:
    if estimator == "empirical":
        scores = [float(query @ w) for query in head.queries[members]]
        p = (sum(score > 0 for score in scores) + 0.5 * scores.count(0.0)) / len(members)
        return 4 * p * (1 - p) * len(members) / (len(members) - 1)
    p = float(ndtr(m / math.sqrt(v)))
    return 4 * p * (1 - p)


def eligible(
    head: Head, i: int, j: int, b: int, bins: int, tau: float, pairs: str, bucket: list[int], positions: list[int]
) -> bool:
    first_bucket = b * head.buckets // bins
    if not (sees(head, tau, positions[i]) and sees(head, tau, positions[j])):
        return False
    if pairs == "earlier":
        return positions[i] < tau and positions[j] < tau
    if pairs == "earlier_bucket":
        return bucket[i] < first_bucket and bucket[j] < first_bucket
    return bucket[i] == bucket[j] < first_bucket


def sees(head: Head, tau: float, position: int) -> bool:
    """Return whether a query at tau can attend to an earlier key, by the head's window or chunks."""
    if head.window is None:
        return True
    if head.chunks:
        return position // head.window >= tau // head.window
    return tau - position < head.window


def law(head: Head, members: list[int], tau: float, estimator: str) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the queries at tau."""
    if estimator in ("aligned_full", "bucket_full", "empirical", "bucket_diag"):
        queries = head.queries[members].astype(np.float64)
        covariance = np.cov(queries, rowvar=False)
        return queries.mean(axis=0), np.diag(np.diag(covariance)) if estimator == "bucket_diag" else covariance
    queries, times = head.queries.astype(np.float64), head.query_positions.astype(np.float64)
    design = np.stack([np.ones(len(times)), times], axis=1)
    (alpha, beta), *_ = np.linalg.lstsq(design, queries, rcond=None)
    residual = queries - design @ np.stack([alpha, beta])
    mean = alpha + beta * tau
    if estimator == "pooled_full":
        return mean, residual.T @ residual / (len(times) - 2)
    first = np.zeros(len(beta))
    first[0] = 1.0
    mirror = first - beta / np.linalg.norm(beta)
    basis = np.eye(len(beta)) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)
    rotated = residual @ basis
    return mean, basis @ np.diag((rotated**2).sum(axis=0) / (len(times) - 1)) @ basis.T
