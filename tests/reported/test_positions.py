"""Range of positions: contexts longer than a model's training length, or longer than it can process."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from boundpaper.errors import ModelError
from keyquery.jobs import Resources
from keyquery.measure.capture import run as capture_command
from keyquery.models.attention.reach import position_rows, positions_made_for
from keyquery.models.captures import capture as capturing
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.progress import CaptureProgress
from keyquery.models.checkpoints.loading import ModelSource
from keyquery.models.texts import TextSource
from models_tiny import ROPE, SIZES, saved, saved_model, text

pytestmark = pytest.mark.models

LEARNED: dict[str, Any] = {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32, "n_positions": 64}


def causal_model(config: Any) -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def capture_options(model: Path, folder: Path, context: int) -> CaptureOptions:
    lines = "\n".join(json.dumps({"text": text(context + 8, seed)}) for seed in range(2))
    (folder / "texts.jsonl").write_text(lines)
    source = ModelSource(str(model), device="cpu")
    texts = TextSource(str(folder / "texts.jsonl"))
    return CaptureOptions(model=source, texts=texts, context=context, buckets=4, rate=4.0, out=folder / "out")


@pytest.mark.reported(outcome="right")
def test_context_beyond_the_trained_length_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Capture texts of 128 tokens from a model with a trained length of 64."""
    options = capture_options(saved("llama", tmp_path / "model"), tmp_path, 128)
    states: list[CaptureProgress] = []
    capturing.capture(options, states.append)
    note = (
        "the context of 128 tokens is longer than the model was made for: max_position_embeddings is 64; "
        "what lies beyond is captured as well"
    )
    assert [state.notes for state in states] == [(note,), (), ()]
    assert json.loads((options.out / "manifest.json").read_text())["notes"] == [note]
    assert "longer than the model was made for" in (options.out / "README.md").read_text()
    arguments: dict[str, Any] = {"revision": None, "quantize": None, "resources": Resources(), "executor": "local"}
    arguments |= {"dtype": "auto", "device": "cpu", "trust_remote_code": False, "jobs": 1}
    arguments |= {"field": "text", "split": "train", "context": 128, "buckets": 4, "rate": 4.0}
    for out in (options.out, tmp_path / "again"):  # the finished capture, and a new one
        capture_command(tmp_path, model=options.model.name, texts=options.texts.path_or_id, out=out, **arguments)
        assert capsys.readouterr().err.count(note) == 1


@pytest.mark.reported(outcome="right")
def test_context_within_the_trained_length_is_not_noted(tmp_path: Path) -> None:
    """Capture texts as long as the model's trained length."""
    options = capture_options(saved("llama", tmp_path / "model"), tmp_path, 64)
    capturing.capture(options)
    assert "notes" not in json.loads((options.out / "manifest.json").read_text())


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 64}
LLAMA3 = {**YARN, "rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}


@pytest.mark.reported(outcome="right")
@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        (ROPE, 64), (YARN, 256), (LLAMA3, 256), ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 128),
        ({"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}, 64),
    ],
)  # fmt: skip
def test_scaled_rotation_extends_the_trained_length(rope: dict[str, Any], expected: int) -> None:
    """Read the trained length from configurations of scaled rotations."""
    length, _ = positions_made_for(transformers.LlamaConfig(**SIZES, rope_parameters=rope)) or (None, "")
    assert length == expected


@pytest.mark.reported(outcome="right")
def test_trained_length_of_layerwise_rotations_and_of_models_that_state_none() -> None:
    """Read the trained length of Gemma 3, which scales rotations in full attention only, and of BLOOM (none stated)."""
    by_type = {"sliding_attention": ROPE, "full_attention": YARN}
    config = transformers.Gemma3TextConfig(**SIZES, head_dim=8, rope_parameters=by_type)
    assert positions_made_for(config) == (256, "its rotation (yarn) stretches 64 positions to 256")
    assert positions_made_for(transformers.BloomConfig(vocab_size=64, hidden_size=32, n_head=4, n_layer=1)) is None


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("kind", ["GPT2", "OPT", "BioGpt", "GPTBigCode"])
def test_a_context_beyond_a_table_of_learned_positions(tmp_path: Path, kind: str) -> None:
    """Capture texts of 72 tokens from a model with 64 learned positions."""
    model = causal_model(getattr(transformers, f"{kind}Config")(**LEARNED))
    folder = saved_model(model, tmp_path / "model")
    message = (
        "a context of 72 tokens is too long: the model's table of learned positions has 64 rows; give --context 64"
    )
    with pytest.raises(ModelError, match=message):
        capturing.capture(capture_options(folder, tmp_path, 72))
    assert not (tmp_path / "out").exists()
    capturing.capture(capture_options(folder, tmp_path, 64))


@pytest.mark.reported(outcome="right")
def test_rows_of_learned_positions_are_counted_by_their_use() -> None:
    """Count the position rows of RoBERTa (with an offset of one row), of BERT, and of Llama, which has none."""
    encoder = {name: value for name, value in SIZES.items() if name != "num_key_value_heads"}
    assert position_rows(causal_model(transformers.RobertaConfig(**encoder, is_decoder=True))) == 64 - 1
    assert position_rows(causal_model(transformers.BertConfig(**encoder, is_decoder=True))) == 64
    assert position_rows(causal_model(transformers.LlamaConfig(**SIZES))) is None


@pytest.mark.reported(outcome="refused")
def test_text_longer_than_a_fixed_position_table_is_refused(tmp_path: Path) -> None:
    """Capture texts of 72 tokens from CTRL, whose 64-row position table is not an embedding."""
    config = transformers.CTRLConfig(vocab_size=64, n_positions=64, n_embd=32, dff=48, n_layer=2, n_head=4)
    folder = saved_model(causal_model(config), tmp_path / "model")
    with pytest.raises(
        ModelError, match="a text of 72 tokens is too long: the table of positions has 64 rows; give a shorter"
    ):
        capturing.capture(capture_options(folder, tmp_path, 72))
