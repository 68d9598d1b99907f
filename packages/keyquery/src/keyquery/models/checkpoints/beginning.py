"""Add the beginning-of-sequence token for tokenizers that have one and do not add it."""

from typing import Any

from boundpaper.errors import ModelError


def add_bos(tokenizer: Any, name: str) -> None:
    """Make a tokenizer of the library `tokenizers` add its beginning-of-sequence token to every text, in place.

    Raises ModelError when it knows no beginning token, puts one in front already, or is not of that library.
    """
    token = tokenizer.bos_token_id
    if token is None:
        raise ModelError(f"{name}: its tokenizer knows no beginning token; leave --bos out")
    if tokenizer("", add_special_tokens=True)["input_ids"][:1] == [token]:
        raise ModelError(f"{name}: its tokenizer puts {tokenizer.bos_token} in front already; leave --bos out")
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:
        raise ModelError(f"{name}: its tokenizer cannot begin texts ({type(tokenizer).__name__}); leave --bos out")
    from tokenizers import processors

    word = tokenizer.bos_token
    inner.post_processor = processors.TemplateProcessing(
        single=f"{word}:0 $A:0", pair=f"{word}:0 $A:0 $B:1", special_tokens=[(word, token)]
    )
