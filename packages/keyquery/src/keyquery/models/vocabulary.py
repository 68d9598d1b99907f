"""Check that a model has an embedding for each token, and identify its vocabulary by a hash."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models.attention.calls import model_label

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


def check_tokens(model: PreTrainedModel, tokens: Tensor, tokenizer: Any = None) -> None:
    """Raise ModelError if a token id has no row in the model's embedding, since a forward pass would crash.

    The error names the first such id and, if `tokenizer` is given, its token.
    """
    embedding: Any = model.get_input_embeddings()
    rows = int(embedding.weight.shape[0])
    unknown_tokens = tokens[tokens >= rows]
    if not len(unknown_tokens):
        return
    token = int(unknown_tokens[0])
    word = "" if tokenizer is None else f" ({tokenizer.convert_ids_to_tokens(token)!r})"
    raise ModelError(
        f"{model_label(model)}: the text has token {token}{word}, but the embedding has {rows} rows; the tokenizer "
        "belongs to another model, or tokens were added to it without model.resize_token_embeddings(len(tokenizer))"
    )


def vocabulary_hash(tokenizer: Any) -> str:
    """Return a hash of a tokenizer's tokens and their ids, and of the ids of its special tokens."""
    vocabulary = [sorted(tokenizer.get_vocab().items()), sorted(tokenizer.all_special_ids)]
    return hashlib.blake2b(json.dumps(vocabulary).encode(), digest_size=16).hexdigest()
