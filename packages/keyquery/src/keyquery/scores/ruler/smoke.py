"""Make an untrained model that reads bytes, for trying the needle tasks without a download.

    python -m keyquery.scores.ruler.smoke FOLDER

writes `FOLDER/random-llama-bytes`, identical in every run: a small Llama with default initialisation, seed 0, and a
tokenizer with one token per byte. The vocabulary of `keyquery.models.null_model` cannot be used, since it has no
numbers.
"""

import sys
from pathlib import Path
from typing import Any

from boundpaper.errors import ThesisError
from keyquery.models import libraries
from keyquery.models.null_model import CONFIG

SIZES: dict[str, Any] = {  # small enough to read thousands of bytes in minutes on any machine
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
}
SPECIAL = ("<pad>", "<s>", "</s>")


def make_network(folder: Path, **changes: Any) -> Path:
    """Write model and tokenizer; return their folder.

    `changes` are settings of the architecture. Raises MissingDependency when torch or transformers is absent.
    """
    torch, transformers = libraries.torch, libraries.transformers
    model_folder = folder / "random-llama-bytes"
    tokenizer = byte_tokenizer()
    torch.manual_seed(0)
    config = {**CONFIG, **SIZES, "vocab_size": len(tokenizer), **changes}
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**config)).save_pretrained(model_folder)
    tokenizer.save_pretrained(model_folder)
    return model_folder


def byte_tokenizer() -> Any:
    """Return a tokenizer with one token per byte, which adds a beginning-of-sequence token."""
    transformers = libraries.transformers
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.processors import TemplateProcessing

    vocabulary = (*SPECIAL, *sorted(ByteLevel.alphabet()))
    tokenizer = Tokenizer(BPE({token: number for number, token in enumerate(vocabulary)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    names = dict(zip(("pad_token", "bos_token", "eos_token"), SPECIAL, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m keyquery.scores.ruler.smoke FOLDER")
    try:
        print(make_network(Path(sys.argv[1])))
    except ThesisError as error:
        sys.exit(f"error: {error}")
