"""Build prompts of LongBench Pro: context, blank lines, question; a prompt that is too long is cut in the middle."""

from typing import Any

from boundpaper.errors import ModelError
from keyquery.scores.lbp.data import Sample

GAP = "\n\n\n\n"  # between context and question
NEW_TOKENS = {"nonthinking": 1024, "thinking": 8192}
LONG = 262_144  # models with at least as many positions may give long answers when they think
LONG_NEW_TOKENS = 32_768
LIMITS = ((262_144, 224_000), (131_072, 120_000))  # a model's positions, and the token limit of its prompts
MARGIN = 64  # tokens that a chat template and the re-encoding of a cut prompt may add


def user_turn(sample: Sample, mode: str) -> str:
    """Return the user turn: the context, then the question in the prompt mode."""
    return f"{sample.context}{GAP}{sample.questions[mode]}".strip()


def new_tokens_for(mode: str, positions: int | None) -> int:
    """Return the token limit of an answer: 1,024, or with thinking 8,192 (32,768 for models of 256k positions)."""
    if mode == "thinking" and positions is not None and positions >= LONG:
        return LONG_NEW_TOKENS
    return NEW_TOKENS[mode]


def prompt_limit(positions: int | None, new_tokens: int, requested: int | None, model: str) -> int:
    """Return the token limit of a prompt: `requested`, or 120,000 for a model of 128k positions and 224,000 for 256k.

    `positions` is the number of positions that the model was made for, None if unknown; `new_tokens` is the limit of
    an answer, and `model` a name for messages. Raises ModelError if prompt and answer would not fit, or if `requested`
    is None and the model is too small for the benchmark.
    """
    if positions is not None and new_tokens >= positions:
        raise ModelError(
            f"{model}: answers of {new_tokens} tokens do not fit its {positions} positions; give --new-tokens"
        )
    largest = None if positions is None else max(1, positions - new_tokens - MARGIN)
    if requested is not None:
        if positions is not None and requested + new_tokens > positions:
            raise ModelError(
                f"{model}: prompts of {requested} tokens and answers of {new_tokens} do not fit its {positions} "
                f"positions; give --limit {largest} or less"
            )
        return requested
    for size, limit in LIMITS:
        if positions is not None and positions >= size and largest is not None and limit <= largest:
            return limit
    if largest is None:
        raise ModelError(f"{model}: its configuration does not say how many positions it has; give --limit")
    raise ModelError(
        f"{model}: prompts at the benchmark's limits and answers of {new_tokens} tokens do not fit its {positions} "
        f"positions; give --limit {largest} or less to cut prompts further (more of the longest inputs is then lost)"
    )


def cut_prompt(prompt: str, tokenizer: Any, limit: int) -> tuple[str, int, bool]:
    """Return a prompt cut in the middle to `limit` tokens, its original number of tokens, and whether it was cut."""
    tokens = tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"]
    if len(tokens) <= limit:
        return prompt, len(tokens), False
    half = limit // 2
    remaining = tokens[:half] + tokens[len(tokens) - (limit - half) :]
    return tokenizer.decode(remaining, skip_special_tokens=True), len(tokens), True
