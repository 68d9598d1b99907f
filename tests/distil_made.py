"""A tiny model with a word tokenizer, and texts for its distillation."""

import random

WORDS = ["the", "a", "key", "of", "red", "blue", "box", "is", "in", "on", "one", "two", "three", "."]


def texts(name, part=None):
    """Yield the names and texts of four documents; the same arguments give the same texts."""
    for number in range(4):
        rng = random.Random(f"{name}/{part}/{number}")
        yield f"{part}-{number}", " ".join(rng.choice(WORDS) for _ in range(120))


def folder(path):
    """Save a two-layer rotary model with its tokenizer in a folder, and return the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(["?", *WORDS])}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained(path)
    torch.manual_seed(3)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(WORDS) + 1,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=128,
            bos_token_id=None,
            eos_token_id=None,
            tie_word_embeddings=True,
            initializer_range=0.5,
        )
    )
    model.save_pretrained(path)
    return path
