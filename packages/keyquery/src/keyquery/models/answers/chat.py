"""Sample answers to single user turns in padded batches, with prompts made by the model's chat template."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.answers.forwards import refuse_changes_by_padding
from keyquery.models.answers.thoughts import has_thought_marks, is_part_of_mark, opens_thinking
from keyquery.models.checkpoints.loading import LoadedModel
from keyquery.models.checkpoints.memory import exhausted
from keyquery.models.vocabulary import check_tokens

SWITCH = "enable_thinking"  # variable of chat templates that turns thinking on or off


@dataclass(frozen=True)
class TokenizedPrompt:
    """A prompt ready for a model.

    `tokens` has the ids, including the chat template's; `thinking` says whether the prompt ends inside an opened
    thinking section.
    """

    tokens: tuple[int, ...]
    thinking: bool


def has_thinking_mode(tokenizer: Any) -> bool:
    """Return whether the model's chat template supports a thinking mode."""
    template = str(getattr(tokenizer, "chat_template", None) or "")
    return SWITCH in template or has_thought_marks(template)


def chat_prompt(tokenizer: Any, text: str, *, thinking: bool) -> TokenizedPrompt:
    """Return the prompt of one user turn.

    Without a chat template, the prompt is the text alone, after the tokenizer's beginning token. `thinking` turns
    thinking on or off if the template supports it.
    """
    if getattr(tokenizer, "chat_template", None) is None:
        return TokenizedPrompt(tuple(tokenizer(text, verbose=False)["input_ids"]), False)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True, enable_thinking=thinking
    )
    return TokenizedPrompt(
        tuple(tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"]), opens_thinking(prompt)
    )


def sampling_options(loaded: LoadedModel, temperature: float | None = None) -> dict[str, Any]:
    """Return the options for `generate`: the model's own if it has any, else those of sampling at temperature 1.

    `temperature` replaces the model's; with 0, the most probable token is always chosen.
    """
    defaults = loaded.model.generation_config
    if temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    if temperature is None:
        temperature = getattr(defaults, "temperature", None)
    top_k, top_p = getattr(defaults, "top_k", None), getattr(defaults, "top_p", None)
    return {
        "do_sample": True,
        "temperature": 1.0 if temperature is None else float(temperature),
        "top_k": top_k or 0,  # without it, the library would restrict sampling to the 50 most probable tokens
        "top_p": 1.0 if top_p is None else top_p,
    }


def answers(
    loaded: LoadedModel, prompts: Sequence[TokenizedPrompt], new_tokens: int, options: dict[str, Any], seed: int
) -> list[tuple[str, int]]:
    """Sample an answer to each prompt, all in one batch; return each answer and its number of tokens.

    Answers have no special tokens, except thinking marks. `options` is the result of `sampling_options`. The same seed
    and batch give the same answers on one machine. Raises ModelError if memory runs out.
    """
    torch = libraries.torch
    model, tokenizer = loaded.model, loaded.tokenizer
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    if padding is None:
        padding = 0  # any token will do, since the mask hides it
    width = max(len(prompt.tokens) for prompt in prompts)
    if any(len(prompt.tokens) < width for prompt in prompts):
        refuse_changes_by_padding(model)
    tokens = torch.full((len(prompts), width), padding, dtype=torch.long)
    mask = torch.zeros_like(tokens)
    for row, prompt in enumerate(prompts):
        tokens[row, width - len(prompt.tokens) :] = torch.tensor(prompt.tokens)
        mask[row, width - len(prompt.tokens) :] = 1
    check_tokens(model, tokens, tokenizer)
    torch.manual_seed(seed)
    generate: Any = model.generate
    try:
        with torch.inference_mode():
            output = generate(
                input_ids=tokens.to(model.device),
                attention_mask=mask.to(model.device),
                max_new_tokens=new_tokens,
                pad_token_id=padding,
                **options,
            )
    except Exception as error:
        if exhausted(error):
            raise ModelError(
                f"memory ran out on {len(prompts)} prompts of {width} tokens; give a smaller --batch or --limit, "
                "--dtype bf16 or --quantize nf4 (finished answers are kept)"
            ) from error
        raise
    replies, end_ids = [], _end_tokens(loaded)
    for row in output[:, width:].tolist():
        answer = list(takewhile(lambda token: token not in end_ids, row))
        replies.append((_answer_text(tokenizer, answer), len(answer)))
    return replies


def _answer_text(tokenizer: Any, tokens: list[int]) -> str:
    """Return an answer's text without special tokens, except those that mark thinking."""
    plain_text, full_text = (str(tokenizer.decode(tokens, skip_special_tokens=skip)) for skip in (True, False))
    if has_thought_marks(plain_text) or not has_thought_marks(full_text):
        return plain_text
    for token in tokenizer.all_special_tokens:
        full_text = full_text if is_part_of_mark(token) else full_text.replace(token, "")
    return full_text


def _end_tokens(loaded: LoadedModel) -> set[int]:
    end_ids = loaded.model.generation_config.eos_token_id
    end_ids = end_ids if isinstance(end_ids, list) else [end_ids, loaded.tokenizer.eos_token_id]
    return {end for end in end_ids if end is not None}
