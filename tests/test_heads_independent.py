"""Plasticity at one position, position part and linear share recomputed in plain numpy, from a shipped model."""

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


def turned(x: np.ndarray, by: int, base: float | None) -> np.ndarray:
    """Return x rotated by that many positions as in Llama: complex numbers of dimensions p and p + d / 2; or x."""
    if base is None:
        return x
    half = len(x) // 2
    plane = (x[:half] + 1j * x[half:]) * np.exp(1j * by * base ** (-np.arange(half) / half))
    return np.concatenate([plane.real, plane.imag])


def by_hand(queries: np.ndarray, places: np.ndarray, keys: np.ndarray, base: float | None) -> tuple[float, ...]:
    """Return mean plasticity, position part and linear share for the queries of the bin from 128 on, at centre 144."""
    start, centre = 128, 144
    mine = [
        turned(queries[text, row].astype(float), centre - place, base)
        for text, row in itertools.product(range(TEXTS), range(places.shape[1]))
        if start <= (place := int(places[text, row])) < start + WIDTH
    ]
    mean, covariance = np.mean(mine, axis=0), np.cov(np.array(mine).T)
    plastic, parts, gaps, separations = [], [], [], []
    for text, (far, near) in itertools.product(range(TEXTS), itertools.combinations(range(len(KEYS)), 2)):
        if KEYS[near] >= start:
            continue
        one, other = keys[text, near].astype(float), keys[text, far].astype(float)
        gap = int(KEYS[near] - KEYS[far])
        w, exchanged = one - other, turned(one, -gap, base) - turned(other, gap, base)
        spread = np.sqrt(w @ covariance @ w)
        p = norm.cdf(w @ mean / spread)
        plastic.append(4 * p * (1 - p))
        parts.append((w @ mean - exchanged @ mean) / 2 / spread)
        gaps.append(w @ mean)
        separations.append(gap)
    share = np.dot(gaps, separations) ** 2 / np.dot(gaps, gaps) / np.dot(separations, separations)
    return float(np.mean(plastic)), float(np.mean(parts)), float(share)


@pytest.mark.parametrize(("name", "base"), [("tiny-continued", 400.0), ("tiny-drope", None)])
def test_plasticity_from_plain_numpy_equals_the_package(name, base):
    model = (
        transformers.AutoModelForCausalLM.from_pretrained(ROOT / f"packages/keyquery/src/keyquery/tiny/{name}")
        .float()
        .eval()
    )
    texts = [documents.sequence(world(True), random.Random(f"independent/{n}"), LENGTH)[0] for n in range(TEXTS)]
    bins = []
    keep = lambda call: bins.append((call.query, call.key)) if call.layer == LAYER else None  # noqa: E731
    with torch.inference_mode(), recording(model, keep):
        model(torch.tensor([token_ids(words) for words in texts]), use_cache=False)
    [(query, key)] = bins
    places = np.random.default_rng(0).integers(WIDTH, size=(TEXTS, LENGTH // WIDTH)) + WIDTH * np.arange(
        LENGTH // WIDTH
    )
    queries = query[:, HEAD].numpy()[np.arange(TEXTS)[:, None], places]
    keys = key[:, HEAD].numpy()[:, KEYS]
    head = Head(
        queries=queries.reshape(-1, queries.shape[-1]),
        query_positions=places.ravel(),
        query_documents=np.repeat(np.arange(TEXTS), places.shape[1]),
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
    plastic, part, share = by_hand(queries, places, keys, base)
    assert plasticity(head, options).profile.values[4] == pytest.approx(plastic, abs=1e-5)
    assert (actual.plasticity, actual.position_part) == pytest.approx((plastic, part), abs=1e-6)
    assert actual.linear_share == pytest.approx(share, rel=1e-6)
