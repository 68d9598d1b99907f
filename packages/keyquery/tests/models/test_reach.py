"""A text longer than the table of learned positions gets an error that names the table."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", exc_type=ImportError)
import torch
import transformers

import models_tiny
from boundpaper.errors import ModelError
from keyquery.models.answers.generation import greedy
from keyquery.models.attention.reach import learned_positions
from keyquery.models.checkpoints.loading import ModelSource, load

ROWS = 24
SIZES: dict[str, Any] = {
    "vocab_size": models_tiny.VOCABULARY, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
    "max_position_embeddings": ROWS,
}  # fmt: skip
LEARNED: dict[str, Any] = {
    "GPT2LMHeadModel": transformers.GPT2Config(**SIZES, bos_token_id=1, eos_token_id=2),
    "OPTForCausalLM": transformers.OPTConfig(**SIZES, word_embed_proj_dim=16, ffn_dim=16),
    "BertLMHeadModel": transformers.BertConfig(**SIZES, intermediate_size=16, is_decoder=True),
}


@pytest.mark.parametrize("kind", LEARNED)
def test_text_longer_than_the_learned_positions_is_refused(kind: str, tmp_path: Path) -> None:
    """Torch would say `index out of range in self` on the CPU, and abort the process on a GPU."""
    torch.manual_seed(0)  # with some weights the first new token ends the answer
    built = getattr(transformers, kind)(LEARNED[kind]).eval()
    loaded = load(ModelSource(str(models_tiny.saved_model(built, tmp_path)), device="cpu"))
    model = loaded.model
    assert learned_positions(model) == ROWS
    tokens = torch.full((1, ROWS + 1), 5)
    assert model(input_ids=tokens[:, :ROWS]).logits.shape[1] == ROWS
    with pytest.raises(ModelError, match=f"a text of {ROWS + 1} tokens is too long: the table of learned"):
        model(input_ids=tokens)
    prompt = " ".join(["w5"] * (ROWS - 3))
    assert len(greedy(model, loaded.tokenizer, [prompt], 2, 1)) == 1
    with pytest.raises(ModelError, match="table of learned positions"):
        greedy(model, loaded.tokenizer, [prompt], 9, 1)


@pytest.mark.parametrize("name", ["llama", "gpt_neox"])
def test_model_without_position_table_runs_beyond_its_training_length(name: str, tmp_path: Path) -> None:
    model = load(ModelSource(str(models_tiny.saved(name, tmp_path)), device="cpu")).model
    assert learned_positions(model) is None
    assert torch.isfinite(model(input_ids=torch.full((1, 200), 5)).logits).all()
