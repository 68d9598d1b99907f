"""Forward passes that skip blocks before an intervention give exactly the logits of full passes."""

from typing import Any

import pytest
import torch
import transformers

from keyquery.measure import evaluation
from keyquery.measure.subject import Options
from keyquery.models import resumed as resuming
from keyquery.models.anatomy import blocks
from keyquery.models.answers.forwards import key_cache, step
from keyquery.models.interventions import Intervention, applied
from keyquery.models.resumed import skip_stored_blocks, untouched_blocks
from models_planted import model as planted_model
from models_planted import subject
from models_tiny import built

pytestmark = pytest.mark.models
TOKENS = torch.tensor([[0, 0, 5, 9, 7, 4], [8, 6, 9, 5, 4, 11]])
PADDED = {"attention_mask": (TOKENS > 0).long(), "position_ids": torch.tensor([[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]])}


def made(name: str) -> Any:
    if name != "gpt2":
        return built(name)
    torch.manual_seed(1)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=3, n_head=4)).eval()


def logits(model: Any, acting: list[Intervention], **inputs: Any) -> torch.Tensor:
    with applied(model, acting), torch.inference_mode():
        output: torch.Tensor = model(input_ids=TOKENS, use_cache=False, **inputs).logits
    return output


@pytest.mark.parametrize("inputs", [{}, PADDED], ids=["plain", "left padding"])
@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "gpt2", "gpt_neox", "gpt_oss"])
def test_resumed_forward_gives_bitwise_equal_logits(name: str, inputs: dict[str, Any]) -> None:
    model, ran = made(name), []
    parts = blocks(model)
    for block in parts:
        block.attention.register_forward_hook(lambda *given: ran.append(1))
    baseline = logits(model, [], **inputs)
    with skip_stored_blocks(model, untouched_blocks(model, [])):
        assert torch.equal(logits(model, [], **inputs), baseline)
    for place, block in enumerate(parts):
        for site in ("attention", "mlp", "heads"):
            acting = [Intervention(site, "zero", layers=(block.layer,))]
            full_run = logits(model, acting, **inputs)
            ran.clear()
            with skip_stored_blocks(model, untouched_blocks(model, acting)):
                assert torch.equal(logits(model, acting, **inputs), full_run)
            assert len(ran) == len(parts) - place
            assert not torch.equal(full_run, baseline)
    assert torch.equal(logits(model, [], **inputs), baseline), "the model is unchanged"


def continued(model: Any, acting: list[Intervention], count: int) -> torch.Tensor:
    """The logits of a prompt and of three tokens after it, which run under a key cache."""
    cache, made = key_cache(model), []
    with torch.inference_mode():
        with skip_stored_blocks(model, count), applied(model, acting):
            made.append(step(model, TOKENS, None, cache, 0))
        for place in range(3):
            with applied(model, acting):
                made.append(step(model, TOKENS[:, place : place + 1], None, cache, TOKENS.shape[1] + place))
    return torch.cat(made, dim=1)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "gpt2", "gpt_neox", "gpt_oss", "mistral"])
def test_prompts_under_a_key_cache_resume_and_continue_with_bitwise_equal_logits(name: str) -> None:
    model, ran = made(name), []
    parts = blocks(model)
    for block in parts:
        block.attention.register_forward_hook(lambda *given: ran.append(1))
    baseline = continued(model, [], 0)
    assert untouched_blocks(model, [], cached=True) == len(parts)
    assert torch.equal(continued(model, [], len(parts)), baseline)
    for place, block in enumerate(parts):
        acting = [Intervention("mlp", "zero", layers=(block.layer,))]
        full_run = continued(model, acting, 0)
        ran.clear()
        assert torch.equal(continued(model, acting, untouched_blocks(model, acting, cached=True)), full_run)
        assert len(ran) == len(parts) - place + 3 * len(parts)
    assert torch.equal(continued(model, [], len(parts)), baseline), "what is kept was not changed"


def test_model_with_side_outputs_between_blocks_runs_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later block reads a side output of an earlier block; another layer is not a block."""
    model = planted_model()
    first, last = (blocks(model)[place].mlp for place in (0, -1))
    left: list[Any] = []
    first.register_forward_hook(lambda module, inputs, output: left.append(output))
    last.register_forward_hook(lambda module, inputs, output: output + left[-1])
    assert untouched_blocks(model, []) == 0
    assert untouched_blocks(planted_model(), []) == 3
    assert untouched_blocks(planted_model(), [Intervention("k", "zero", layers=(2,), where="post")]) == 0
    model = planted_model()
    model.config.num_hidden_layers = 4
    assert untouched_blocks(model, []) == 0
    assert (
        untouched_blocks(
            transformers.MambaForCausalLM(transformers.MambaConfig(hidden_size=16, num_hidden_layers=2)).eval(), []
        )
        == 0
    )
    monkeypatch.setattr(resuming, "MAX_BYTES", 0)
    model, ran = planted_model(), []
    blocks(model)[0].attention.register_forward_hook(lambda *given: ran.append(1))
    for _ in range(2):
        with skip_stored_blocks(model, 3):
            logits(model, [])
    assert ran == [1, 1], "no more is cached than allowed"


def test_losses_reuse_known_states_of_an_identified_model() -> None:
    texts = subject(planted_model()).texts(Options(texts=3))
    acting = [evaluation.Condition(str(at), (Intervention("mlp", "zero", layers=(at,)),)) for at in range(3)]
    ran: list[int] = []
    nats = []
    for facts in ({}, {"fingerprint": "of these weights"}):
        asked = subject(planted_model(), facts=facts)
        losses = [evaluation.losses(asked, texts)]
        for block in blocks(asked.model):
            block.attention.register_forward_hook(lambda *given: ran.append(1))
        nats.append(losses + [evaluation.losses(asked, texts, each) for each in acting])
        ran.append(0)
    assert nats[0] == nats[1]
    assert ran == [1] * 9 + [0] + [1] * (3 + 2 + 1) + [0]


def test_answers_reuse_known_states_of_an_identified_model() -> None:
    """Prompts under the ablation of a block run the blocks below it once; their answers are those of whole passes."""
    acting = [
        evaluation.Condition(str(at), (Intervention("mlp", "zero", layers=(at,)),), decode=True) for at in range(3)
    ]
    given_answers, counts, ran = [], list[int](), list[int]()
    for facts in ({}, {"fingerprint": "of these weights"}):
        asked = subject(planted_model(), facts=facts)
        items = asked.book.items(asked.book.tasks()[0], 3, 0, asked.tokenizer)
        for block in blocks(asked.model):
            block.attention.register_forward_hook(
                lambda module, inputs, given, output: ran.append(given["hidden_states"].shape[1]), with_kwargs=True
            )
        untouched_blocks(asked.model, [], cached=True)  # tries it on texts of its own
        ran.clear()
        given_answers.append([evaluation.answers(asked, items, each) for each in (evaluation.BASELINE, *acting)])
        counts.append(sum(length > 1 for length in ran))
    assert given_answers[0] == given_answers[1]
    full_count, resumed = counts
    assert resumed == full_count // 4 + full_count // 12 * (3 + 2 + 1)
