"""`--bos` makes a tokenizer add its beginning token; if it has none or adds it already, an error says so."""

import pytest

pytest.importorskip("transformers")

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from boundpaper.errors import ModelError
from keyquery.models.checkpoints.beginning import add_bos


def tokenizer(**special):
    inner = Tokenizer(models.WordLevel({"<s>": 0, "<unk>": 1, "we": 2, "walk": 3}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", **special)


def test_beginning_token_is_prepended_once():
    words = tokenizer(bos_token="<s>")
    assert words("we walk")["input_ids"] == [2, 3]
    add_bos(words, "a model")
    assert words("we walk")["input_ids"] == [0, 2, 3]
    assert words("")["input_ids"] == [0]
    assert words("we walk", add_special_tokens=False)["input_ids"] == [2, 3]


def test_tokenizer_without_or_with_automatic_beginning_token_is_refused():
    with pytest.raises(ModelError, match="a model: its tokenizer has no beginning token; leave --bos out"):
        add_bos(tokenizer(), "a model")
    words = tokenizer(bos_token="<s>")
    add_bos(words, "a model")
    with pytest.raises(ModelError, match="already adds <s> in front"):
        add_bos(words, "a model")
