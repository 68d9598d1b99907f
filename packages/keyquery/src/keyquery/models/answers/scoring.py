"""Score given answers by the log-probability of each whole answer after its prompt."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError, ModelError
from keyquery.models import libraries
from keyquery.models.answers.forwards import batches, device_of, encode, has_states, key_cache, step, tokens_at_once

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Question = tuple[str, tuple[str, ...]]
"""A prompt and its answers."""


@dataclass(frozen=True)
class Scores:
    """Log-probabilities of the answers to one prompt.

    `options` has the answers, `logprobs` the log-probability of each whole answer after the prompt, in nats, and
    `tokens` the number of tokens of each answer.
    """

    options: tuple[str, ...]
    logprobs: tuple[float, ...]
    tokens: tuple[int, ...]

    def raw(self, option: str) -> float:
        """Return the probability of an answer among all continuations."""
        return math.exp(self.logprobs[self.options.index(option)])

    def normalised(self, option: str) -> float:
        """Return the probability of an answer among the options."""
        highest = max(self.logprobs)
        shares = [math.exp(value - highest) for value in self.logprobs]
        return shares[self.options.index(option)] / sum(shares)

    @property
    def best(self) -> str:
        """The most probable answer, or the first of several equally probable ones."""
        return self.options[self.logprobs.index(max(self.logprobs))]


@dataclass(frozen=True)
class Branch:
    """The tokens after the common prefix of a group of prompts: the rest of one prompt, and an answer to it.

    `question` is the prompt's index in its group.
    """

    prompt_rest: tuple[int, ...]
    answer: tuple[int, ...]
    question: int

    @property
    def inputs(self) -> tuple[int, ...]:
        """Tokens that the model must read to score the answer: all but the last."""
        return self.prompt_rest + self.answer[:-1]


def options_logprobs(
    model: PreTrainedModel, tokenizer: Any, questions: Sequence[Question], batch: int = 8
) -> list[Scores]:
    """Return each whole answer's log-probability given its prompt: the sum of the log-probabilities of its tokens.

    Each prompt is run once; the answers' later tokens follow with the key cache. The model must be in evaluation mode.
    Prompts of equal length share a batch, and nothing is padded on the left. Raises DataError if a prompt has no
    answers or two of its answers have the same tokens, and ModelError if the tokenizer cannot encode an answer or
    merges it with the prompt's last token.
    """
    groups = [[question] for question in questions]
    return [scores for [scores] in grouped_logprobs(model, tokenizer, groups, batch)]


def grouped_logprobs(
    model: PreTrainedModel, tokenizer: Any, groups: Sequence[Sequence[Question]], batch: int = 8
) -> list[list[Scores]]:
    """Return log-probabilities as `options_logprobs` does, for groups of prompts with a common prefix.

    A group's prefix is run once; the rests of its prompts follow with the key cache, one after another, so that only
    one copy of the cache is in memory (two with sliding windows). A model with states in its cache reads the prefix
    again for every rest.
    """
    pairs = [_answer_branches(tokenizer, group) for group in groups]
    prefixes, branches = [prefix for prefix, _ in pairs], [group_branches for _, group_branches in pairs]
    sums: list[list[float]] = [[] for _ in groups]
    for indices in batches([len(prefix) for prefix in prefixes], batch):
        batch_sums = _branch_sums(model, [prefixes[index] for index in indices], [branches[index] for index in indices])
        for index, group_sums in zip(indices, batch_sums, strict=True):
            sums[index] = group_sums
    return [
        [_question_scores(question, number, group_branches, group_sums) for number, question in enumerate(group)]
        for group, group_branches, group_sums in zip(groups, branches, sums, strict=True)
    ]


def answer_tokens(tokenizer: Any, prompt: str, option: str, prefix: Sequence[int] | None = None) -> list[int]:
    """Return the tokens that an answer adds to a prompt, after a space unless the prompt ends with white space.

    `prefix` has the prompt's tokens, if they are known. Raises ModelError if the answer adds no token or an unknown
    token, or if it changes the prompt's tokens.
    """
    prefix = encode(tokenizer, prompt) if prefix is None else list(prefix)
    full = encode(tokenizer, prompt + ("" if prompt[-1:].isspace() else " ") + option)
    if full[: len(prefix)] != prefix:
        raise ModelError(
            f"the tokenizer merges the answer {option!r} with the end of its prompt, {prompt[-30:]!r}; "
            "end the prompt elsewhere"
        )
    answer = full[len(prefix) :]
    if not answer or getattr(tokenizer, "unk_token_id", None) in answer:
        raise ModelError(f"the tokenizer cannot encode the answer {option!r} after the prompt {prompt[-30:]!r}")
    return answer


def _answer_branches(tokenizer: Any, group: Sequence[Question]) -> tuple[list[int], list[Branch]]:
    """Return the common prefix of a group's prompts, and each answer's branch after it."""
    prompts = [encode(tokenizer, prompt) for prompt, _ in group]
    length = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*prompts, strict=False)))
    if not length:
        raise DataError("prompts of one group begin with different tokens; ask them one by one")
    branches: list[Branch] = []
    for number, ((prompt, options), ids) in enumerate(zip(group, prompts, strict=True)):
        answers = [tuple(answer_tokens(tokenizer, prompt, option, ids)) for option in options]
        if not answers:
            raise DataError(f"0 answers to choose from after the prompt {prompt[-40:]!r}")
        if len(set(answers)) < len(answers):
            raise DataError(f"two of the answers {', '.join(options)} have the same tokens after {prompt[-40:]!r}")
        branches += [Branch(tuple(ids[length:]), answer, number) for answer in answers]
    return prompts[0][:length], branches


def _question_scores(question: Question, number: int, branches: Sequence[Branch], sums: Sequence[float]) -> Scores:
    pairs = [(branch, value) for branch, value in zip(branches, sums, strict=True) if branch.question == number]
    return Scores(question[1], tuple(value for _, value in pairs), tuple(len(branch.answer) for branch, _ in pairs))


def _branch_sums(model: PreTrainedModel, prefix_ids: list[list[int]], groups: list[list[Branch]]) -> list[list[float]]:
    """Return the summed log-probability of every branch of every group, for prefixes of equal length."""
    torch = libraries.torch
    device, length = device_of(model), len(prefix_ids[0])
    inputs = [list(dict.fromkeys(branch.inputs for branch in branches if branch.inputs)) for branches in groups]
    turns = max(map(len, inputs))
    cache = key_cache(model)
    has_state_layers = has_states(cache)
    has_windows = any(getattr(layer, "is_sliding", False) for layer in cache.layers)
    prefixes = torch.tensor(prefix_ids, device=device)
    with torch.inference_mode():
        first_logprobs = step(model, prefixes, None, cache, 0)[:, -1].float().log_softmax(-1)
        sums = [
            [0.0 if branch.prompt_rest else float(first_logprobs[number, branch.answer[0]]) for branch in branches]
            for number, branches in enumerate(groups)
        ]
        for turn in range(turns):
            rows = [group_inputs[turn] if turn < len(group_inputs) else (0,) for group_inputs in inputs]
            longest = max(map(len, rows))
            # rows are padded on the right, which a causal model never attends to
            tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=device)
            turn_cache = copy.deepcopy(cache) if has_windows and not has_state_layers and turn < turns - 1 else cache
            if (
                has_state_layers and turn
            ):  # states cannot drop tokens again, and some are in the model, not in the cache
                turn_cache = key_cache(model)
                step(model, prefixes, None, turn_cache, 0)
            size = int(min(longest, tokens_at_once(model)))
            starts = range(0, longest, size)
            logits = [
                step(model, tokens[:, start : start + size], None, turn_cache, length + start, keep=size)
                for start in starts
            ]
            logprobs = torch.cat(logits, dim=1).float().log_softmax(-1)
            if not has_windows and not has_state_layers:
                cache.crop(-longest)
            for number, row in enumerate(rows):
                for index, branch in enumerate(groups[number]):
                    if turn < len(inputs[number]) and branch.inputs == row:
                        sums[number][index] += _branch_sum(logprobs[number], branch)
    return sums


def _branch_sum(logprobs: Tensor, branch: Branch) -> float:
    """Return the summed log-probability (float64) of an answer's tokens, less a token right after the common prefix."""
    skipped = 0 if branch.prompt_rest else 1  # the answer starts right after the common prefix
    start = len(branch.prompt_rest) + skipped - 1
    answer = list(branch.answer[skipped:])
    return float(logprobs[list(range(start, start + len(answer))), answer].double().sum())
