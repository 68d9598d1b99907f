"""A model with learned positions refuses by name what reaches beyond them; biased scores are told as that."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", exc_type=ImportError)
import torch
import transformers

import models_tiny
from boundpaper.errors import ModelError
from keyquery.models.answers.generation import greedy
from keyquery.models.attention.positions import positional, rotary, rotates
from keyquery.models.attention.reach import learned_positions
from keyquery.models.checkpoints.loading import ModelSource, load

ROWS = 24
SIZES: dict[str, Any] = {"vocab_size": models_tiny.VOCABULARY}


def gpt2() -> Any:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            **SIZES, n_embd=16, n_layer=1, n_head=2, n_positions=ROWS, bos_token_id=1, eos_token_id=2
        )
    )


def opt() -> Any:
    return transformers.OPTForCausalLM(
        transformers.OPTConfig(
            **SIZES,
            hidden_size=16,
            word_embed_proj_dim=16,
            ffn_dim=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=ROWS,
        )
    )


def bert() -> Any:
    return transformers.BertLMHeadModel(
        transformers.BertConfig(
            **SIZES,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=ROWS,
            is_decoder=True,
        )
    )


@pytest.mark.parametrize("make", [gpt2, opt, bert])
def test_text_longer_than_the_learned_positions_is_refused(make: Any, tmp_path: Path) -> None:
    """Torch says `index out of range in self` on the CPU, and ends the process on a GPU."""
    loaded = load(ModelSource(str(models_tiny.saved_model(make().eval(), tmp_path)), device="cpu"))
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


@pytest.mark.parametrize("name", ["bloom", "mpt", "falcon"])
def test_model_with_alibi_is_reported_as_position_bias(name: str) -> None:
    """A rotary module is not what it lacks: none would help."""
    if name == "falcon":
        sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        model: Any = transformers.FalconForCausalLM(transformers.FalconConfig(**SIZES, **sizes, alibi=True))
    else:
        model = models_tiny.built(name)
    assert rotates(model)
    for look in (rotary, positional):
        with pytest.raises(ModelError, match=r"adds a position bias to its scores \(ALiBi\)"):
            look(model)


@pytest.mark.parametrize("name", ["llama", "gpt_neox"])
def test_rotary_model_is_not_classified_as_learned_positions_or_bias(name: str) -> None:
    assert positional(models_tiny.built(name)) == "rope"
    assert rotary(models_tiny.built(name))
