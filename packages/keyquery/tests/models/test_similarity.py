"""Similarity by an embedding model: a random model whose vectors are computed by hand."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

import sentence_transformers as library
import torch

from boundpaper.errors import ModelError
from keyquery.models.similarity import load_similarity
from models_tiny import built, saved

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    """Return a folder that sentence-transformers loads: a random model that pools the last token."""
    from sentence_transformers.sentence_transformer import modules

    folder = tmp_path_factory.mktemp("embedder")
    words = modules.Transformer(str(saved("llama", folder / "plain")))
    pooled = modules.Pooling(words.get_embedding_dimension(), pooling_mode="lasttoken")
    library.SentenceTransformer(modules=[words, pooled], device="cpu").save(str(folder / "pooled"))
    return folder / "pooled"


def vector(*tokens):
    """Return the last token's final state, of unit length."""
    model = built("llama")
    with torch.no_grad():
        states = model(torch.tensor([[1, *tokens]]), output_hidden_states=True).hidden_states[-1]
    return torch.nn.functional.normalize(states[0, -1], dim=0)


def test_similarity_is_the_best_cosine_regardless_of_padding(embedder):
    compare = load_similarity(str(embedder), "cpu")
    first, second, other = vector(5, 6, 7), vector(8), vector(9, 10)
    cosines = [float(first @ other), float(second @ other)]
    assert compare(["w5 w6 w7"], "w9 w10") == pytest.approx(cosines[0], abs=1e-4)
    assert compare(["w8"], "w9 w10") == pytest.approx(cosines[1], abs=1e-4)
    assert compare(["w5 w6 w7", "w8"], "w9 w10") == pytest.approx(max(cosines), abs=1e-4)
    assert compare(["w8", "w9 w10"], "w9 w10") == pytest.approx(1, abs=1e-5)


def test_folder_without_an_embedding_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match="not an embedding model that can be loaded"):
        load_similarity(str(tmp_path), "cpu")
