"""Plasticity, position part and linear share of a head of a shipped model, recomputed in plain numpy."""

import itertools
import random

import numpy as np
import pytest
from scipy.stats import norm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from conftest import ROOT  # noqa: E402
from keyquery.heads.exchange import exchange, exchanged_pairs  # noqa: E402
from keyquery.heads.head import Head  # noqa: E402
from keyquery.heads.plasticity import PlasticityOptions, plasticity  # noqa: E402
from keyquery.language import documents  # noqa: E402
from keyquery.language.words import token_ids, world  # noqa: E402
from keyquery.models.attention.calls import recording  # noqa: E402
from keyquery.models.attention.rotations import rotations  # noqa: E402

pytestmark = pytest.mark.models
LENGTH, TEXTS, WIDTH, LAYER, HEAD = 256, 64, 32, 2, 1
KEYS = np.arange(5, LENGTH, 19)  # positions of the competing keys


def rotated(x: np.ndarray, positions: int, base: float | None) -> np.ndarray:
    """Return x rotated by `positions` as in Llama, where dimensions p and p + d / 2 form a plane; x if base is None."""
    if base is None:
        return x
    half = len(x) // 2
    plane = (x[:half] + 1j * x[half:]) * np.exp(1j * positions * base ** (-np.arange(half) / half))
    return np.concatenate([plane.real, plane.imag])


def by_hand(
    queries: np.ndarray, query_positions: np.ndarray, keys: np.ndarray, base: float | None
) -> tuple[float, ...]:
    """Return mean plasticity, position part and linear share of the query bin from 128 to 160, at its centre 144."""
    start, centre = 128, 144
    bin_queries = [
        rotated(queries[text, row].astype(float), centre - place, base)
        for text, row in itertools.product(range(TEXTS), range(query_positions.shape[1]))
        if start <= (place := int(query_positions[text, row])) < start + WIDTH
    ]
    mean, covariance = np.mean(bin_queries, axis=0), np.cov(np.array(bin_queries).T)
    plasticities, parts, gaps, separations = [], [], [], []
    for text, (far, near) in itertools.product(range(TEXTS), itertools.combinations(range(len(KEYS)), 2)):
        if KEYS[near] >= start:
            continue
        near_key, far_key = keys[text, near].astype(float), keys[text, far].astype(float)
        gap = int(KEYS[near] - KEYS[far])
        w, exchanged = near_key - far_key, rotated(near_key, -gap, base) - rotated(far_key, gap, base)
        spread = np.sqrt(w @ covariance @ w)
        p = norm.cdf(w @ mean / spread)
        plasticities.append(4 * p * (1 - p))
        parts.append((w @ mean - exchanged @ mean) / 2 / spread)
        gaps.append(w @ mean)
        separations.append(gap)
    share = np.dot(gaps, separations) ** 2 / np.dot(gaps, gaps) / np.dot(separations, separations)
    return float(np.mean(plasticities)), float(np.mean(parts)), float(share)


@pytest.mark.parametrize(("name", "base"), [("tiny-continued", 400.0), ("tiny-drope", None)])
def test_plasticity_from_plain_numpy_equals_the_package(name, base):
    model = (
        transformers.AutoModelForCausalLM.from_pretrained(ROOT / f"packages/keyquery/src/keyquery/tiny/{name}")
        .float()
        .eval()
    )
    texts = [documents.sequence(world(True), random.Random(f"independent/{n}"), LENGTH)[0] for n in range(TEXTS)]
    recorded = []
    record = lambda call: recorded.append((call.query, call.key)) if call.layer == LAYER else None  # noqa: E731
    with torch.inference_mode(), recording(model, record):
        model(torch.tensor([token_ids(words) for words in texts]), use_cache=False)
    [(query, key)] = recorded
    query_positions = np.random.default_rng(0).integers(WIDTH, size=(TEXTS, LENGTH // WIDTH)) + WIDTH * np.arange(
        LENGTH // WIDTH
    )
    queries = query[:, HEAD].numpy()[np.arange(TEXTS)[:, None], query_positions]
    keys = key[:, HEAD].numpy()[:, KEYS]
    head = Head(
        queries=queries.reshape(-1, queries.shape[-1]),
        query_positions=query_positions.ravel(),
        query_documents=np.repeat(np.arange(TEXTS), query_positions.shape[1]),
        keys=keys.reshape(-1, keys.shape[-1]),
        key_positions=np.tile(KEYS, TEXTS),
        key_documents=np.repeat(np.arange(TEXTS), len(KEYS)),
        context=LENGTH,
        buckets=LENGTH // WIDTH,
        rotary=rotations(model, LENGTH)[LAYER],
    )
    options = PlasticityOptions(pairs="earlier_bucket")
    pairs = exchanged_pairs(head, options, 10**9)
    actual = exchange(pairs, pairs.bin == 4)
    mean_plasticity, part, share = by_hand(queries, query_positions, keys, base)
    assert plasticity(head, options).profile.values[4] == pytest.approx(mean_plasticity, abs=1e-5)
    assert (actual.plasticity, actual.position_part) == pytest.approx((mean_plasticity, part), abs=1e-6)
    assert actual.linear_share == pytest.approx(share, rel=1e-6)
