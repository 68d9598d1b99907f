"""Continuations, answer probabilities and likelihoods agree with the library and with full forward passes."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing

import architectures
from boundpaper.errors import DataError, ModelError
from keyquery.models.answers import likelihood
from keyquery.models.answers.forwards import encode
from keyquery.models.answers.generation import greedy
from keyquery.models.answers.likelihood import token_nats
from keyquery.models.answers.scoring import Scores, answer_tokens, grouped_logprobs, options_logprobs
from models_tiny import BUILDERS, VOCABULARY, WORDS, built, text, word_tokenizer

pytestmark = pytest.mark.models


def words(*, begin: bool = True) -> Any:
    return word_tokenizer(WORDS, begin)


def zeroed(module: Any) -> Any:
    """Return a function that opens a context in which the outputs of a module are zero."""

    @contextmanager
    def context() -> Iterator[None]:
        with module.register_forward_hook(lambda module, inputs, output: output * 0):
            yield

    return context


@pytest.mark.parametrize("name", ["llama", "mistral", "ministral", "qwen3", "gemma2"])
def test_greedy_equals_generation_by_the_library(name: str) -> None:
    model, tokenizer = built(name), words()
    prompts = [text(count, seed) for seed, count in enumerate((9, 5, 9, 12, 5))]
    expected = []
    for prompt in prompts:
        ids = torch.tensor([encode(tokenizer, prompt)])
        tokens = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False)[0]
        expected.append(tokenizer.decode(tokens[ids.shape[1] :], skip_special_tokens=True))
    assert greedy(model, tokenizer, prompts, 8, batch=2) == expected
    assert greedy(model, tokenizer, prompts, 8, pad=True) == expected, "padding changes nothing without interventions"
    assert len(set(expected)) > 2


@pytest.mark.parametrize("kind", ["recurrent_gemma", "bart"])
def test_padding_on_the_left_is_refused_where_it_changes_answers(kind: str) -> None:
    """The model has a state that reads the padding, or counts positions from it; prompts of equal length still run."""
    model, tokenizer = architectures.built(kind, vocab_size=VOCABULARY), words()
    with pytest.raises(ModelError, match=r"padding on the left changes the model's answers .*; give --batch 1"):
        greedy(model, tokenizer, [text(9, 1), text(5, 2)], 3, pad=True)
    assert len(greedy(model, tokenizer, [text(9, 1), text(9, 2)], 3, pad=True)) == 2


@pytest.mark.parametrize("kind", ["axk2", "dots3_note_text", "rwkv", "minimax"])
def test_cache_that_changes_answers_is_refused_at_each_try(kind: str) -> None:
    """A model is refused if it selects keys anew at each token, keeps a state instead of keys, or has its own cache."""
    model = architectures.built(kind, vocab_size=VOCABULARY)
    for _ in range(2):
        with pytest.raises(ModelError, match="uses cache of its own" if kind == "minimax" else "gets other logits"):
            greedy(model, words(), [text(9, 1)], 3)


def test_continuation_ends_at_an_end_token_or_stop_text() -> None:
    model, tokenizer = built("llama"), words()
    prompts = [text(6, 1), text(6, 2)]
    unstopped = greedy(model, tokenizer, prompts, 6)
    first_words = unstopped[0].split()
    count, word = next((count, word) for count, word in enumerate(first_words) if count and word != first_words[0])
    stopped = greedy(model, tokenizer, prompts, 6, stop=[" " + word])
    assert stopped == [" ".join(first_words[:count]), unstopped[1].split(" " + word)[0]]
    model.generation_config.eos_token_id = [2, int(word[1:])]
    assert greedy(model, tokenizer, prompts[:1], 6) == [" ".join(first_words[:count])]


def test_prefill_and_decode_run_in_separate_contexts() -> None:
    model, tokenizer = built("llama"), words()
    entered: list[str] = []

    def counted(name: str) -> Any:
        @contextmanager
        def around() -> Iterator[None]:
            entered.append(name)
            yield

        return around

    greedy(model, tokenizer, [text(6, 1)], 4, prefill=counted("prefill"), decode=counted("decode"))
    assert entered == ["prefill", "decode", "decode", "decode"], "the last token needs no further forward pass"
    prompts = [text(20, seed) for seed in range(8)]
    changed = zeroed(model.model.layers[0].mlp)
    runs = [
        greedy(model, tokenizer, prompts, 8, **contexts)
        for contexts in ({}, {"prefill": changed}, {"decode": changed}, {"prefill": changed, "decode": changed})
    ]
    first = [[answer.split()[0] for answer in run] for run in runs]
    assert first[0] == first[2], "the first word depends only on the prompt"
    assert first[1] == first[3]
    assert len({tuple(run) for run in runs}) == 4


@pytest.mark.parametrize("name", ["llama", "ministral", "jamba", "falcon_mamba", "mamba2"])
def test_options_have_the_probability_of_their_whole_text(name: str) -> None:
    """The probabilities are also right for models with recurrent states, from which no token can be removed."""
    tokenizer = words()
    model = built(name) if name in BUILDERS else architectures.built(name, vocab_size=VOCABULARY)
    questions = [
        (text(7, 1), ("w5", "w6 w7 w8", "w9 w10")), (text(7, 2), ("w5", "w11 w7 w8", "w9 w10")),
        (text(4, 3), ("w5", "w6")),
    ]  # fmt: skip
    probabilities = options_logprobs(model, tokenizer, questions, batch=2)
    for (prompt, options), scores in zip(questions, probabilities, strict=True):
        assert scores.options == options
        for option, value, count in zip(options, scores.logprobs, scores.tokens, strict=True):
            ids = torch.tensor([encode(tokenizer, f"{prompt} {option}")])
            with torch.no_grad():
                logprobs = model(ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
            assert count == len(option.split())
            assert value == pytest.approx(float(logprobs[-count:].sum()), abs=1e-4)
        (alone,) = options_logprobs(model, tokenizer, [(prompt, options)])
        assert scores.logprobs == pytest.approx(alone.logprobs, abs=1e-5)


@pytest.mark.parametrize("name", ["llama", "ministral", "gemma2"])
def test_prompts_with_a_common_prefix_are_computed_once(name: str) -> None:
    model, tokenizer = built(name), words()
    prefix, other_prefix = text(9, 1), text(9, 2)
    groups = [
        [(prefix, ("w5 w6", "w7 w8")), (f"{prefix} w9 w10", ("w5", "w6")), (f"{prefix} w11", ("w5", "w6 w7"))],
        [(other_prefix, ("w5 w6", "w7 w8 w9"))],
        [(f"{other_prefix} w5", ("w5",)), (f"{other_prefix} w6", ("w5",))],
    ]
    forwards: list[int] = []
    hook = model.register_forward_pre_hook(
        lambda module, inputs, options: forwards.append(options["input_ids"].numel()), with_kwargs=True
    )
    probabilities = grouped_logprobs(model, tokenizer, groups)
    hook.remove()
    assert forwards[0] == 3 * 10, "the three beginnings have one length and run as a batch"
    assert sum(forwards[1:]) < 40
    for group, scores in zip(groups, probabilities, strict=True):
        alone = options_logprobs(model, tokenizer, group)
        for actual, expected in zip(scores, alone, strict=True):
            assert (actual.options, actual.tokens) == (expected.options, expected.tokens)
            assert actual.logprobs == pytest.approx(expected.logprobs, abs=1e-4)
    with pytest.raises(DataError, match="begin with different tokens"):
        grouped_logprobs(model, words(begin=False), [[("w5", ("w6",)), ("w7", ("w6",))]])


def test_option_shares_are_normalised_and_raw_probabilities_are_not() -> None:
    scores = Scores(("yes", "no"), (math.log(0.3), math.log(0.1)), (1, 1))
    assert scores.raw("yes") == pytest.approx(0.3)
    assert scores.normalised("yes") == pytest.approx(0.75)
    assert scores.best == "yes"


@pytest.mark.parametrize(
    ("answers", "message"),
    [(("w7", "yes"), "cannot encode the answer 'yes'"), ((), "0 answers"), (("w7", "w7"), "same tokens")],
)
def test_unwritable_answers_are_refused(answers: tuple[str, ...], message: str) -> None:
    with pytest.raises((DataError, ModelError), match=message):
        options_logprobs(built("llama"), words(), [("w5 w6", answers)])


def test_prompts_that_cannot_be_continued_are_refused() -> None:
    model, tokenizer = built("llama"), words()
    ending = words()
    special = [("<s>", 1), ("</s>", 2)]
    ending.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=special)
    with pytest.raises(ModelError, match="end token"):
        greedy(model, ending, ["w5 w6"], 1)
    with pytest.raises(ModelError, match="no tokens"):
        greedy(model, words(begin=False), [""], 1)
    with pytest.raises(ModelError, match="at least 1"):
        greedy(model, tokenizer, ["w5"], 0)
    assert greedy(model, tokenizer, [], 4) == []


def test_tokenizer_that_merges_prompt_and_answer_is_refused() -> None:
    letters = {letter: number for number, letter in enumerate(["<s>", "a", "b", "Ġ", "Ġb", "Ġa"])}
    inner = Tokenizer(BPE(letters, [("Ġ", "b"), ("Ġ", "a")]))
    inner.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>")
    assert answer_tokens(tokenizer, "a a", "b") == [4]
    with pytest.raises(ModelError, match="merges the answer 'b'"):
        answer_tokens(tokenizer, "a a ", "b")


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_chunked_likelihood_equals_that_of_all_logits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = built(name)
    if name == "gemma2":
        model.config.final_logit_softcapping = 0.5
    ids = torch.randint(4, 64, (2, 14), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = -model(ids).logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
    for rows in (1, 4, 13, 14, 500):
        monkeypatch.setattr(likelihood, "LOGIT_ROWS", rows)
        nats = token_nats(model, ids)
        assert nats.shape == (2, 13)
        assert torch.allclose(nats, expected, atol=1e-4)
    with pytest.raises(DataError, match="1 tokens has no token to predict"):
        token_nats(model, ids[:, :1])


def test_likelihood_under_an_intervention_is_that_of_the_changed_model() -> None:
    model = built("llama")
    nats = token_nats(model, torch.arange(4, 14)[None], prefill=zeroed(model.model.norm))
    assert torch.allclose(nats, torch.tensor(math.log(64)), rtol=1e-5), "zero states make every word equally likely"
