"""What a causal language model says: greedy continuations, probabilities of given answers, likelihood of texts.

Prompts are never padded unless asked: an intervention on the beginning token acts on absolute position 0, which padding
would fill with something else. Prompts of equal length share a batch instead. The first forward over a prompt (the
prefill) and the later ones over what follows it (decode steps, under a key cache) each run inside their own context,
so that an intervention can act on one, on the other or on both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.models.attention import positions_of
from analysis.models.libraries import need
from analysis.models.likelihood import Around, home
from analysis.models.likelihood import negative_log_likelihood as negative_log_likelihood
from analysis.models.likelihood import token_nats as token_nats
from artifacts.errors import DataError, ModelError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Scores:
    """Log-probabilities of the answers that a prompt allows.

    Parameters
    ----------
    options : tuple of str
        The answers.
    logprobs : tuple of float
        Log-probability of each whole answer after the prompt, in nats.
    tokens : tuple of int
        Tokens of each.
    """

    options: tuple[str, ...]
    logprobs: tuple[float, ...]
    tokens: tuple[int, ...]

    def raw(self, option: str) -> float:
        """Probability of an answer among all continuations."""
        return math.exp(self.logprobs[self.options.index(option)])

    def normalised(self, option: str) -> float:
        """Probability of an answer among the options."""
        highest = max(self.logprobs)
        shares = [math.exp(value - highest) for value in self.logprobs]
        return shares[self.options.index(option)] / sum(shares)

    @property
    def best(self) -> str:
        """The most probable answer, the first of equals."""
        return self.options[self.logprobs.index(max(self.logprobs))]


def encode(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a prompt, with the beginning token where the tokenizer adds one.

    Raises
    ------
    ModelError
        When there are no tokens, or the tokenizer closes the prompt with an end token that nothing may follow.
    """
    ids: list[int] = list(tokenizer(text, verbose=False)["input_ids"])
    if not ids:
        raise ModelError(f"the tokenizer makes no tokens of the prompt {text[:40]!r}, and adds no beginning token")
    end = getattr(tokenizer, "eos_token_id", None)
    begin = getattr(tokenizer, "bos_token_id", None)
    if len(ids) > 1 and ids[-1] == end and end != begin:
        raise ModelError("the tokenizer ends every prompt with its end token; load it with add_eos_token=False")
    return ids


def greedy(
    model: PreTrainedModel,
    tokenizer: Any,
    prompts: Sequence[str],
    new_tokens: int,
    batch: int = 8,
    stop: Sequence[str] | None = None,
    *,
    pad: bool = False,
    prefill: Around = nullcontext,
    decode: Around = nullcontext,
) -> list[str]:
    """The most probable continuation of each prompt, token by token, ties by the lowest id.

    Parameters
    ----------
    model : PreTrainedModel
        In evaluation mode.
    tokenizer : PreTrainedTokenizer
        The model's own.
    prompts : sequence of str
        In any order; the answer keeps it.
    new_tokens : int
        At most so many tokens each; an end token of the model ends earlier.
    batch : int
        Prompts at a time.
    stop : sequence of str or None
        A continuation ends before the first of these texts.
    pad : bool
        Pad prompts of different lengths on the left, with mask and position ids to match, so that they share batches;
        then position 0 of a row is not its beginning token, and interventions there are wrong.
    prefill, decode : callable
        Called without arguments, each gives a context manager: entered around the forward over the prompts, and around
        each forward over one more token.

    Raises
    ------
    ModelError
        When a prompt has no tokens, or no token may be made.
    """
    if new_tokens < 1 or batch < 1:
        raise ModelError("new_tokens and batch must be at least 1")
    rows = [encode(tokenizer, prompt) for prompt in prompts]
    said: list[str] = [""] * len(rows)
    for indices in _batches([len(row) for row in rows], batch, together=pad):
        found = _continue(model, tokenizer, [rows[index] for index in indices], new_tokens, stop or (), prefill, decode)
        for index, text in zip(indices, found, strict=True):
            said[index] = text
    return said


def _continue(
    model: PreTrainedModel,
    tokenizer: Any,
    rows: list[list[int]],
    new_tokens: int,
    stop: Sequence[str],
    prefill: Around,
    decode: Around,
) -> list[str]:
    torch = need("torch")
    tokens, mask = _padded(rows, _filler(tokenizer))
    tokens, mask = tokens.to(home(model)), None if mask is None else mask.to(home(model))
    ends = _ends(model, tokenizer)
    made: list[list[int]] = [[] for _ in rows]
    texts = [""] * len(rows)
    open_rows = set(range(len(rows)))
    cache = _cache(model)
    with torch.inference_mode():
        with prefill():
            logits = _step(model, tokens, mask, cache, 0)
        for step in range(new_tokens):
            picked = logits[:, -1].float().argmax(-1)
            for row, token in enumerate(picked.tolist()):
                if row not in open_rows:
                    continue
                if token in ends:
                    open_rows.discard(row)
                    continue
                made[row].append(token)
                texts[row] = tokenizer.decode(made[row], skip_special_tokens=True)
                cuts = [at for word in stop if (at := texts[row].find(word)) >= 0]
                if cuts:
                    texts[row] = texts[row][: min(cuts)]
                    open_rows.discard(row)
            if not open_rows or step == new_tokens - 1:
                break
            if mask is not None:
                mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
            with decode():
                logits = _step(model, picked[:, None], mask, cache, tokens.shape[1] + step)
    return texts


def option_logprobs(
    model: PreTrainedModel,
    tokenizer: Any,
    prompt: str,
    options: Sequence[str],
    *,
    prefill: Around = nullcontext,
    decode: Around = nullcontext,
) -> Scores:
    """Log-probability of each answer after one prompt; see `options_logprobs`."""
    return options_logprobs(model, tokenizer, [(prompt, tuple(options))], prefill=prefill, decode=decode)[0]


def options_logprobs(
    model: PreTrainedModel,
    tokenizer: Any,
    asked: Sequence[tuple[str, tuple[str, ...]]],
    batch: int = 8,
    *,
    prefill: Around = nullcontext,
    decode: Around = nullcontext,
) -> list[Scores]:
    """Log-probabilities of answers, each taken whole: the sum over its tokens, given the prompt.

    The prompts are run once each; the answers' later tokens follow under the key cache, so `decode` is entered only
    when some answer has more than one token.

    Parameters
    ----------
    model : PreTrainedModel
        In evaluation mode.
    tokenizer : PreTrainedTokenizer
        The model's own.
    asked : sequence of (str, tuple of str)
        Prompts and their answers.
    batch : int
        Prompts at a time; prompts of equal length and as many answers share a batch, nothing is padded on the left.
    prefill, decode : callable
        As in `greedy`.

    Raises
    ------
    DataError
        When a prompt has no answers, or two of one prompt have the same tokens.
    ModelError
        When the tokenizer cannot write an answer, or joins it with the prompt so that the prompt's own tokens change.
    """
    heads: list[list[int]] = []
    tails: list[list[list[int]]] = []
    for prompt, options in asked:
        head = encode(tokenizer, prompt)
        parts = [continuation(tokenizer, prompt, option, head) for option in options]
        if not parts:
            raise DataError(f"no answers to choose from after the prompt {prompt[-40:]!r}")
        if len({tuple(part) for part in parts}) < len(parts):
            raise DataError(f"two of the answers {', '.join(options)} have the same tokens after {prompt[-40:]!r}")
        heads.append(head)
        tails.append(parts)
    found: list[Scores | None] = [None] * len(heads)
    shapes = [(len(head), len(parts)) for head, parts in zip(heads, tails, strict=True)]
    for indices in _batches(shapes, batch):
        sums = _tail_logprobs(
            model, [heads[index] for index in indices], [tails[index] for index in indices], prefill, decode
        )
        for index, values in zip(indices, sums, strict=True):
            found[index] = Scores(asked[index][1], tuple(values), tuple(len(part) for part in tails[index]))
    return [scores for scores in found if scores is not None]


def continuation(tokenizer: Any, prompt: str, option: str, head: Sequence[int] | None = None) -> list[int]:
    """Tokens that an answer adds to a prompt, a space between them unless the prompt ends in one.

    Raises
    ------
    ModelError
        When it adds none or an unknown token, or the prompt's tokens change.
    """
    head = encode(tokenizer, prompt) if head is None else list(head)
    whole = encode(tokenizer, prompt + ("" if prompt[-1:].isspace() else " ") + option)
    if whole[: len(head)] != head:
        raise ModelError(
            f"the tokenizer joins the answer {option!r} with the end of its prompt, {prompt[-30:]!r}; "
            "end the prompt elsewhere"
        )
    added = whole[len(head) :]
    if not added or getattr(tokenizer, "unk_token_id", None) in added:
        raise ModelError(f"the tokenizer cannot write the answer {option!r} after the prompt {prompt[-30:]!r}")
    return added


def _tail_logprobs(
    model: PreTrainedModel, heads: list[list[int]], tails: list[list[list[int]]], prefill: Around, decode: Around
) -> list[list[float]]:
    torch = need("torch")
    length, options = len(heads[0]), len(tails[0])
    flat = [tail for parts in tails for tail in parts]
    longest = max(len(tail) for tail in flat)
    cache = _cache(model)
    device = home(model)
    # short tails are padded on the right, where a causal model cannot look
    later = torch.tensor([tail + tail[-1:] * (longest - len(tail)) for tail in flat], device=device)
    with torch.inference_mode():
        with prefill():
            first = _step(model, torch.tensor(heads, device=device), None, cache, 0)[:, -1]
        logs = first.float().log_softmax(-1).repeat_interleave(options, 0)
        columns = [logs.gather(1, later[:, :1])]
        if longest > 1:
            cache.batch_repeat_interleave(options)
            with decode():
                rest = _step(model, later[:, :-1], None, cache, length, keep=longest - 1)
            columns.append(rest.float().log_softmax(-1).gather(2, later[:, 1:, None])[..., 0])
    values = torch.cat(columns, dim=1).double().cpu()
    sums = [float(values[row, : len(tail)].sum()) for row, tail in enumerate(flat)]
    return [sums[start : start + options] for start in range(0, len(sums), options)]


def _step(model: PreTrainedModel, tokens: Tensor, mask: Tensor | None, cache: Any, start: int, keep: int = 1) -> Tensor:
    """Logits of the last `keep` tokens (B, keep, V) of a forward whose first token stands at `start` of the cache."""
    torch = need("torch")
    if mask is None:
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device)[None].expand(len(tokens), -1)
    else:
        places = positions_of(mask)[:, -tokens.shape[1] :]
    logits: Tensor = model(
        input_ids=tokens,
        attention_mask=mask,
        position_ids=places,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=keep,
    ).logits
    return logits[:, -keep:]


def _batches(keys: Sequence[Any], batch: int, *, together: bool = False) -> Iterator[list[int]]:
    """Indices of equal key in order of first appearance, at most `batch` at a time; of any key when `together`."""
    groups: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(None if together else key, []).append(index)
    for group in groups.values():
        yield from (group[start : start + batch] for start in range(0, len(group), batch))


def _padded(rows: list[list[int]], filler: int) -> tuple[Tensor, Tensor | None]:
    """Token ids (B, T) padded on the left, and their mask; no mask where nothing is padded."""
    torch = need("torch")
    longest = max(map(len, rows))
    tokens = torch.tensor([[filler] * (longest - len(row)) + row for row in rows])
    if all(len(row) == longest for row in rows):
        return tokens, None
    return tokens, torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])


def _filler(tokenizer: Any) -> int:
    """The token under the mask: any will do."""
    given = getattr(tokenizer, "pad_token_id", None)
    return 0 if given is None else int(given)


def _ends(model: PreTrainedModel, tokenizer: Any) -> set[int]:
    """Tokens that end a continuation."""
    found: set[int] = set()
    for owner in (getattr(model, "generation_config", None), tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        found |= set(ids) if isinstance(ids, list | tuple) else {ids} if ids is not None else set()
    return found


def _cache(model: PreTrainedModel) -> Any:
    return need("transformers").DynamicCache(config=model.config.get_text_config())
