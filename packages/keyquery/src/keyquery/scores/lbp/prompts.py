"""Build prompts of LongBench Pro: context, blank lines, question; a prompt that is too long is cut in the middle."""

from typing import Any

from boundpaper.errors import ModelError
from keyquery.scores.lbp.data import Sample

GAP = "\n\n\n\n"  # between context and question
NEW_TOKENS = {"nonthinking": 1024, "thinking": 8192}
LONG = 262_144  # number of positions from which models may think for longer
LONG_THOUGHTS = 32_768
LIMITS = ((262_144, 224_000), (131_072, 120_000))  # positions of a model, tokens of a prompt
MARGIN = 64  # tokens that a chat template and the re-encoding of a cut prompt may add


def user_turn(sample: Sample, mode: str) -> str:
    """Return the user turn: the context, then the question in the prompt mode."""
    return f"{sample.context}{GAP}{sample.questions[mode]}".strip()


def new_tokens_for(mode: str, positions: int | None) -> int:
    """Return the token limit of an answer: 1,024; with thinking 8,192, or 32,768 for context lengths of 256k."""
    if mode == "thinking" and positions is not None and positions >= LONG:
        return LONG_THOUGHTS
    return NEW_TOKENS[mode]


def prompt_limit(positions: int | None, new_tokens: int, asked: int | None, model: str) -> int:
    """Return the token limit of a prompt: 120,000 for a context length of 128k, 224,000 for 256k, or `asked`.

    `positions` is the number of positions that the model was made for, None if unknown; `new_tokens` is the limit of
    an answer, `asked` the requested limit, and `model` a name for messages. Raises ModelError if prompt and answer
    would not fit, or the model is too small for the benchmark and `asked` is None.
    """
    if positions is not None and new_tokens >= positions:
        raise ModelError(
            f"{model}: answers of {new_tokens} tokens do not fit its {positions} positions; give --new-tokens"
        )
    largest = None if positions is None else max(1, positions - new_tokens - MARGIN)
    if asked is not None:
        if positions is not None and asked + new_tokens > positions:
            raise ModelError(
                f"{model}: prompts of {asked} tokens and answers of {new_tokens} do not fit its {positions} positions; "
                f"give --limit {largest} or less"
            )
        return asked
    for size, limit in LIMITS:
        if positions is not None and positions >= size and largest is not None and limit <= largest:
            return limit
    if largest is None:
        raise ModelError(f"{model}: its configuration does not say how many positions it has; give --limit")
    raise ModelError(
        f"{model}: prompts of the benchmark's limits and answers of {new_tokens} tokens do not fit its {positions} "
        f"positions; give --limit {largest} or less to cut prompts further (more of the longest inputs is then lost)"
    )


def cut_prompt(prompt: str, tokenizer: Any, limit: int) -> tuple[str, int, bool]:
    """Cut a prompt to its first and last tokens, half of the limit each.

    Return the prompt, how many tokens it had, and whether it was cut.
    """
    tokens = tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"]
    if len(tokens) <= limit:
        return prompt, len(tokens), False
    half = limit // 2
    outer = tokens[:half] + tokens[len(tokens) - (limit - half) :]
    return tokenizer.decode(outer, skip_special_tokens=True), len(tokens), True
