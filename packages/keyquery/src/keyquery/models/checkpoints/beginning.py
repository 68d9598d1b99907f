"""Make a tokenizer add its beginning-of-sequence token if it does not do so."""

from typing import Any

from boundpaper.errors import ModelError


def add_bos(tokenizer: Any, name: str) -> None:
    """Change a tokenizer of the library `tokenizers` so that it adds its beginning-of-sequence token to every text.

    Raises ModelError if it has no beginning token, already adds it, or is not of that library.
    """
    token = tokenizer.bos_token_id
    if token is None:
        raise ModelError(f"{name}: its tokenizer has no beginning token; leave --bos out")
    if tokenizer("", add_special_tokens=True)["input_ids"][:1] == [token]:
        raise ModelError(f"{name}: its tokenizer already adds {tokenizer.bos_token} in front; leave --bos out")
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(
            f"{name}: its tokenizer cannot add a beginning token ({type(tokenizer).__name__}); leave --bos out"
        )
    from tokenizers import processors

    word = tokenizer.bos_token
    backend.post_processor = processors.TemplateProcessing(
        single=f"{word}:0 $A:0", pair=f"{word}:0 $A:0 $B:1", special_tokens=[(word, token)]
    )
