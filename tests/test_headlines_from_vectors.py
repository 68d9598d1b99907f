"""Three headline numbers recomputed in plain numpy from queries and keys that keyquery returns."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from analysis.population.geometry import held_out_documents  # noqa: E402
from conftest import ROOT  # noqa: E402
from keyquery.language.words import token_ids  # noqa: E402
from keyquery.models.attention.calls import recording  # noqa: E402

pytestmark = pytest.mark.models
LENGTH, QUARTER, SPACING, PAIRS, TEXTS = 512, 128, 64, 300, 128
BASES = {"tiny-continued": 400.0, "tiny-drope": None}


def rotated(x, positions, base):
    """Return x rotated by `positions` as in Llama, where dimensions p and p + d / 2 form a plane; x if base is None."""
    half = x.shape[-1] // 2
    angle = np.asarray(positions)[..., None] * (0.0 if base is None else base ** (-np.arange(half) / half))
    plane = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([plane.real, plane.imag], axis=-1)


def by_quarter(name, base):
    """Return plasticity, and the share of queries whose preferred key changes, for each quarter of the positions."""
    folder = ROOT / f"packages/keyquery/src/keyquery/tiny/{name}"
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).float().eval()
    quarters: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    texts = torch.tensor([token_ids(words) for words in held_out_documents(LENGTH)[:TEXTS]])
    record = lambda call: quarters.setdefault(call.layer, []).append((call.query.numpy(), call.key.numpy()))  # noqa: E731
    with torch.inference_mode(), recording(model, record):
        for start_text in range(0, TEXTS, 32):
            model.base_model(texts[start_text : start_text + 32], use_cache=False)
    plasticities: list[list[float]] = [[] for _ in range(4)]
    sways: list[list[float]] = [[] for _ in range(4)]
    rng = np.random.default_rng(1)
    for batches in quarters.values():
        queries, keys = (np.concatenate([batch[index] for batch in batches]).astype(float) for index in (0, 1))
        for head in range(queries.shape[1]):
            for start in range(SPACING, LENGTH, SPACING):
                bin_queries = queries[:, head, start + SPACING // 2]  # single positions need no alignment
                text, *places = rng.integers((TEXTS, start, start), size=(PAIRS, 3)).T
                (near, far), text = np.sort(places, axis=0)[::-1, places[0] != places[1]], text[places[0] != places[1]]
                near_keys, far_keys = keys[text, head, near], keys[text, head, far]
                w, v = near_keys - far_keys, rotated(near_keys, far - near, base) - rotated(far_keys, near - far, base)
                w, v = (rows[np.abs(near_keys - far_keys).any(axis=1)] for rows in (w, v))  # equal keys do not compete
                p = norm.cdf(w @ bin_queries.mean(0) / np.sqrt(np.einsum("ni,ij,nj->n", w, np.cov(bin_queries.T), w)))
                plasticities[start // QUARTER].append(np.mean(4 * p * (1 - p)))
                sways[start // QUARTER].append(np.mean((w @ bin_queries.T > 0) != (v @ bin_queries.T > 0)))
    return [[float(np.mean(quarter)) for quarter in each] for each in (plasticities, sways)]


def test_plasticity_and_exchange_of_shipped_models_follow_from_their_vectors():
    read = lambda name: pd.read_parquet(ROOT / f"artifacts/measurements/{name}/population.parquet")  # noqa: E731
    widths = read("shipped_widths").query("width == 1 and estimator == 'aligned_full'")
    tables = {"plasticity": widths, "sway": read("shipped_exchange").query("width == 1")}
    printed = {name: rows.groupby(["model", "low"])[name].mean() for name, rows in tables.items()}
    (with_rotation, sway), (without_rotation, sway_without) = (by_quarter(name, base) for name, base in BASES.items())
    assert with_rotation == pytest.approx(printed["plasticity"]["tiny-continued"].tolist(), abs=0.02)
    assert without_rotation == pytest.approx(printed["plasticity"]["tiny-drope"].tolist(), abs=0.02)
    # counted here; the tables assume a normal distribution
    assert sway == pytest.approx(printed["sway"]["tiny-continued"].tolist(), abs=0.02)
    assert sway_without == [0, 0, 0, 0]
    # the thesis' statement on the population, in the seed that ships: lower without rotation, growing sway
    assert without_rotation[0] < with_rotation[0] - 0.05
    assert sway[3] > sway[0] + 0.02
