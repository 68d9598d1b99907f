"""Make the tokenizer of the small models: one token per word, words separated by spaces, `<s>` in front."""

from collections.abc import Sequence
from typing import Any

from keyquery.language.words import WORDS
from keyquery.models import libraries


def build_tokenizer(words: Sequence[str] = WORDS) -> Any:
    """Return the tokenizer as a transformers tokenizer, ready to be saved beside a model.

    Raises MissingDependency when transformers is absent.
    """
    transformers = libraries.transformers
    import tokenizers  # comes with transformers

    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: token for token, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", words.index("<s>"))]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        clean_up_tokenization_spaces=False,
    )
