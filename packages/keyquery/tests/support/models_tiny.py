"""Tiny random models of many architectures, for the tests of `keyquery.models`."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers

VOCABULARY = 64
WORDS = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3} | {f"w{number}": number for number in range(4, VOCABULARY)}
WINDOW = 5
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,  # makes attention far from uniform
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
HEADS_OF_8 = {**SIZES, "head_dim": 8}
ROPE = {"rope_type": "default", "rope_theta": 1e4}
LOCAL_AND_GLOBAL = ["sliding_attention", "full_attention", "sliding_attention"]


VISION = {
    "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 8,
    "patch_size": 4,
}  # fmt: skip
YARN_AND_SCALE = {
    "rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 8,
    "llama_4_scaling_beta": 0.3,
}  # fmt: skip


def _mllama() -> Any:
    from transformers.models.mllama.configuration_mllama import MllamaTextConfig

    return transformers.MllamaForCausalLM(MllamaTextConfig(**SIZES, cross_attention_layers=[1], rope_parameters=ROPE))


def _causal(config: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: transformers.AutoModelForCausalLM.from_config(config())


WIDE = {**SIZES, "hidden_size": 64, "intermediate_size": 128}  # 4-bit weights come in blocks of 64

BUILDERS: dict[str, Callable[[], Any]] = {
    "llama": _causal(lambda: transformers.LlamaConfig(**SIZES)),
    "llama-wide": _causal(lambda: transformers.LlamaConfig(**WIDE)),
    "mistral": _causal(lambda: transformers.MistralConfig(**SIZES, sliding_window=WINDOW)),
    "ministral": _causal(
        lambda: transformers.MinistralConfig(**HEADS_OF_8, sliding_window=WINDOW, layer_types=LOCAL_AND_GLOBAL)
    ),
    "ministral3": _causal(lambda: transformers.Ministral3Config(**HEADS_OF_8, rope_parameters=YARN_AND_SCALE)),
    "qwen3": _causal(lambda: transformers.Qwen3Config(**HEADS_OF_8)),
    "smollm3": _causal(lambda: transformers.SmolLM3Config(**SIZES, no_rope_layer_interval=2)),
    "mllama": _mllama,
    "gemma3": _causal(
        lambda: transformers.Gemma3TextConfig(
            **HEADS_OF_8, sliding_window=WINDOW, layer_types=LOCAL_AND_GLOBAL, query_pre_attn_scalar=24
        )
    ),
    "gpt_neox": _causal(
        lambda: transformers.GPTNeoXConfig(
            **{name: size for name, size in SIZES.items() if name != "num_key_value_heads"},
            rope_parameters={**ROPE, "partial_rotary_factor": 0.5},
        )
    ),
    "gpt_oss": _causal(
        lambda: transformers.GptOssConfig(
            **HEADS_OF_8,
            num_local_experts=2,
            num_experts_per_tok=1,
            sliding_window=WINDOW,
            layer_types=LOCAL_AND_GLOBAL,
            rope_parameters=ROPE,
        )
    ),
    "gemma2": _causal(
        lambda: transformers.Gemma2Config(**HEADS_OF_8, sliding_window=WINDOW, attn_logit_softcapping=2.0)
    ),
}
UNSUPPORTED: dict[str, Callable[[], Any]] = {
    "gpt_neo": _causal(
        lambda: transformers.GPTNeoConfig(
            vocab_size=64, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]]
        )
    ),
    "bloom": _causal(lambda: transformers.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4)),
    "falcon": _causal(
        lambda: transformers.FalconConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=True
        )
    ),
    "mpt": _causal(lambda: transformers.MptConfig(vocab_size=64, d_model=32, n_layers=2, n_heads=4, max_seq_len=64)),
    "gptj": _causal(
        lambda: transformers.GPTJConfig(vocab_size=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64)
    ),
}


def _mllama_with_vision() -> Any:
    vision_config = {name: size for name, size in VISION.items() if name != "num_attention_heads"} | {
        "num_global_layers": 1,
        "attention_heads": 2,
        "max_num_tiles": 1,
        "supported_aspect_ratios": [[1, 1]],
        "intermediate_layers_indices": [0],
        "vision_output_dim": 32,
    }
    text_config = {**SIZES, "cross_attention_layers": [1], "rope_parameters": ROPE}
    return transformers.MllamaForConditionalGeneration(
        transformers.MllamaConfig(vision_config=vision_config, text_config=text_config)
    )


def _mistral3() -> Any:
    text_config = {**HEADS_OF_8, "model_type": "ministral3", "rope_parameters": YARN_AND_SCALE}
    return transformers.Mistral3ForConditionalGeneration(
        transformers.Mistral3Config(vision_config={"model_type": "pixtral", **VISION}, text_config=text_config)
    )


def _gemma3_with_vision() -> Any:
    return transformers.Gemma3ForConditionalGeneration(
        transformers.Gemma3Config(
            vision_config={"model_type": "siglip_vision_model", **VISION},
            text_config={**HEADS_OF_8, "sliding_window": WINDOW, "layer_types": LOCAL_AND_GLOBAL},
            mm_tokens_per_image=4,
            image_token_index=60,
            boi_token_index=61,
            eoi_token_index=62,
        )
    )


# Checkpoints with an image tower, like the published Llama 3.2 11B, Ministral 3 and Gemma 3
WITH_IMAGES: dict[str, Callable[[], Any]] = {
    "mllama-images": _mllama_with_vision,
    "mistral3-images": _mistral3,
    "gemma3-images": _gemma3_with_vision,
}


def built(name: str) -> Any:
    """Return a model by its architecture's name, with fixed weights, ready to run."""
    torch.manual_seed(0)
    model = (BUILDERS | UNSUPPORTED | WITH_IMAGES)[name]()
    return model.eval()


def saved(name: str, folder: Path) -> Path:
    """Save a model by its architecture's name with a word-level tokenizer; return the folder."""
    return saved_model(built(name), folder)


def saved_model(model: Any, folder: Path) -> Path:
    """Save a model and a word-level tokenizer; return the folder."""
    model.save_pretrained(folder)
    word_tokenizer(WORDS).save_pretrained(folder)
    return folder


def word_tokenizer(words: dict[str, int], bos: bool = True) -> Any:
    """Return a word-level tokenizer, with or without a beginning token."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    if bos:
        tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", words["<s>"])])
    return fast_tokenizer(tokenizer)


def fast_tokenizer(tokenizer: Any, **options: Any) -> Any:
    """Return a tokenizer of transformers with the special tokens of the tiny models."""
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special, **options)


def change(folder: Path, **values: Any) -> None:
    """Set values in the configuration of a saved model."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def text(words: int, seed: int) -> str:
    """Return a text of `words` words; each is one token, and the tokenizer adds a beginning token."""
    tokens = torch.randint(4, VOCABULARY, (words,), generator=torch.Generator().manual_seed(seed))
    return " ".join(f"w{token}" for token in tokens.tolist())
