"""Build a narrow version of a model, with the same class, layers and head dimension, but small widths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.checkpoints.loading import model_class

if TYPE_CHECKING:
    from transformers import PreTrainedModel

HEADS, INNER, WORDS, EXPERTS = 2, 16, 64, 2
NARROW: dict[str, int] = {
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "moe_intermediate_size", "ffn_hidden_size"), INNER),
    **dict.fromkeys(("shared_expert_intermediate_size", "intermediate_size_mlp"), INNER),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), EXPERTS),
    **dict.fromkeys(("num_experts_per_tok", "n_group", "topk_group", "n_shared_experts"), 1),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank"), INNER),
    **dict.fromkeys(("num_attention_heads", "n_head", "num_key_value_heads"), HEADS),
    "vocab_size": WORDS,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def narrow_model(raw: Mapping[str, Any]) -> PreTrainedModel:
    """Return a narrow, randomly initialised model with the rotations set in `raw`, the content of a config.json.

    Raises ModelError if transformers does not know the model type, or the class rejects the narrow settings.
    """
    torch, transformers = libraries.torch, libraries.transformers
    kind = str(raw.get("model_type"))
    try:
        full_settings = {key: value for key, value in raw.items() if key != "model_type"}
        text_config = transformers.AutoConfig.for_model(kind, **full_settings).get_text_config()
        head_dim = getattr(text_config, "head_dim", None) or text_config.hidden_size // text_config.num_attention_heads
        unused = {"model_type", "architectures", "torch_dtype"}
        settings = {key: value for key, value in text_config.to_dict().items() if key not in unused}
        settings |= {name: size for name, size in NARROW.items() if settings.get(name) is not None}
        settings |= {name: HEADS * head_dim for name in ("hidden_size", "n_embd") if settings.get(name) is not None}
        config = transformers.AutoConfig.for_model(text_config.model_type, **settings)
        torch.manual_seed(0)
        model: PreTrainedModel = model_class(config).from_config(config).eval()
    except Exception as error:  # the architecture's code may raise anything
        message = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(
            f"no narrow version of model type {kind} can be built ({type(error).__name__}: {message})"
        ) from error
    return model
