"""Analyse heads given as arrays; no model, capture, project or torch is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyquery.heads.head import Head
from keyquery.heads.plasticity import MIN_QUERIES, PlasticityOptions
from keyquery.heads.plasticity import plasticity as estimate

if TYPE_CHECKING:
    from keyquery.heads.laws import Estimator
    from keyquery.heads.pairs import PairMode
    from keyquery.heads.plasticity import Plasticity


def plasticity(
    head: Head,
    estimator: Estimator | None = None,
    bins: int | None = None,
    *,
    pairs: PairMode = "earlier",
    min_queries: int = MIN_QUERIES,
    cap: int | None = None,
    seed: int = 0,
) -> Plasticity:
    """Estimate how often the content of a head's queries, not their position, decides which of two keys scores higher.

    Parameters
    ----------
    head : Head
        Queries and keys with their positions.
    estimator : str, optional
        See `PlasticityOptions`; by default `aligned_full` if the head's rotation is known, else `bucket_full`.
    bins : int, optional
        Number of query bins over the context; by default `head.buckets`.
    pairs, min_queries, cap, seed
        See `PlasticityOptions`.

    Raises
    ------
    ValueError
        If `head` is not a `Head`, an option is unknown or out of range, or the estimator needs an unknown rotation.

    Examples
    --------
    >>> import keyquery as kq
    >>> import numpy as np
    >>> rng, positions, documents = np.random.default_rng(0), np.arange(512), np.zeros(512, dtype=int)
    >>> head = kq.Head(
    ...     queries=rng.normal(size=(512, 4)), query_positions=positions, query_documents=documents,
    ...     keys=rng.normal(size=(512, 4)), key_positions=positions, key_documents=documents, context=512,
    ... )
    >>> frame = kq.plasticity(head, estimator="bucket_full", bins=4).to_frame()
    >>> frame[["bin", "queries", "pairs"]].iloc[-1].tolist()
    [3, 128, 100128]
    >>> bool((frame["plasticity"] > 0.5).all())
    True
    """
    if not isinstance(head, Head):
        raise ValueError(f"a {type(head).__name__} is not a head; give kq.Head(queries=..., keys=..., ...)")
    estimator = estimator or ("bucket_full" if head.rotary is None else "aligned_full")
    options = PlasticityOptions(
        estimator=estimator, pairs=pairs, bins=bins, min_queries=min_queries, cap=cap, seed=seed
    )
    return estimate(head, options)
