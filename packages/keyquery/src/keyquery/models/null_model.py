"""Make a small Llama with random weights (a null model) and random texts, to measure what holds without training.

    python -m keyquery.models.null_model FOLDER

writes `FOLDER/random-llama` (model and tokenizer) and `FOLDER/texts.jsonl`, identical in every run.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from boundpaper.errors import ThesisError
from boundpaper.store.files import write
from keyquery.models import libraries

WORDS, CONTEXT, DOCUMENTS = 2000, 1024, 256  # numbers of words, of tokens per text, and of texts
CONFIG: dict[str, Any] = {
    **{"vocab_size": WORDS + 4, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8},
    **{"num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": CONTEXT},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
}


def make_null_model(folder: Path) -> Path:
    """Write the model, its tokenizer and the texts; return the model's folder.

    Weights come from the architecture's default initialisation with seed 0. Texts are words drawn independently by
    Zipf's law (frequency one over rank), so only the rotary embedding relates a token to its position. Raises
    MissingDependency when torch or transformers is absent.
    """
    torch, transformers = libraries.torch, libraries.transformers
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    torch.manual_seed(0)
    model_folder = folder / "random-llama"
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG)).save_pretrained(model_folder)
    special = ("<pad>", "<s>", "</s>", "<unk>")
    words = {word: number for number, word in enumerate((*special, *(f"w{rank}" for rank in range(1, WORDS + 1))))}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    names = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token"), special, strict=True))
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(model_folder)
    frequencies = 1 / np.arange(1, WORDS + 1)
    ranks = np.random.default_rng(0).choice(WORDS, (DOCUMENTS, CONTEXT), p=frequencies / frequencies.sum()) + 1
    texts = [" ".join(f"w{rank}" for rank in row) for row in ranks]
    lines = [json.dumps({"id": str(number), "text": text}) + "\n" for number, text in enumerate(texts)]
    write(folder / "texts.jsonl", "".join(lines).encode())
    return model_folder


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m keyquery.models.null_model FOLDER")
    try:
        print(make_null_model(Path(sys.argv[1])))
    except ThesisError as error:
        sys.exit(f"error: {error}")
