"""Forward passes that skip the blocks before an intervention give exactly the logits of full passes."""

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
from keyquery.models.resumed import count_untouched_blocks, skip_stored_blocks
from models_planted import model as planted_model
from models_planted import subject
from models_tiny import built

pytestmark = pytest.mark.models
TOKENS = torch.tensor([[0, 0, 5, 9, 7, 4], [8, 6, 9, 5, 4, 11]])
PADDED = {"attention_mask": (TOKENS > 0).long(), "position_ids": torch.tensor([[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]])}


def any_model(name: str) -> Any:
    if name != "gpt2":
        return built(name)
    torch.manual_seed(1)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=3, n_head=4)).eval()


def attention_runs(model: Any) -> list[int]:
    """Return a list that gets the number of tokens of each pass through a block's attention."""
    runs: list[int] = []

    def count(module: Any, inputs: Any, options: dict[str, Any], output: Any) -> None:
        runs.append((inputs[0] if inputs else options["hidden_states"]).shape[1])

    for block in blocks(model):
        block.attention.register_forward_hook(count, with_kwargs=True)
    return runs


def logits(model: Any, interventions: list[Intervention], **inputs: Any) -> torch.Tensor:
    with applied(model, interventions), torch.inference_mode():
        output: torch.Tensor = model(input_ids=TOKENS, use_cache=False, **inputs).logits
    return output


@pytest.mark.parametrize("inputs", [{}, PADDED], ids=["plain", "left padding"])
@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "gpt2", "gpt_neox", "gpt_oss"])
def test_resumed_forward_gives_bitwise_equal_logits(name: str, inputs: dict[str, Any]) -> None:
    model = any_model(name)
    runs = attention_runs(model)
    baseline = logits(model, [], **inputs)
    with skip_stored_blocks(model, count_untouched_blocks(model, [])):
        assert torch.equal(logits(model, [], **inputs), baseline)
    for index, block in enumerate(blocks(model)):
        for site in ("attention", "mlp", "heads"):
            interventions = [Intervention(site, "zero", layers=(block.layer,))]
            full_run = logits(model, interventions, **inputs)
            runs.clear()
            with skip_stored_blocks(model, count_untouched_blocks(model, interventions)):
                assert torch.equal(logits(model, interventions, **inputs), full_run)
            assert len(runs) == len(blocks(model)) - index
            assert not torch.equal(full_run, baseline)
    assert torch.equal(logits(model, [], **inputs), baseline), "the model is unchanged"


def continued_logits(model: Any, interventions: list[Intervention], skipped: int) -> torch.Tensor:
    """Return the logits of a prompt and of three tokens after it, which run under a key cache."""
    cache, logits_by_pass = key_cache(model), []
    with torch.inference_mode():
        with skip_stored_blocks(model, skipped), applied(model, interventions):
            logits_by_pass.append(step(model, TOKENS, None, cache, 0))
        for index in range(3):
            with applied(model, interventions):
                logits_by_pass.append(step(model, TOKENS[:, index : index + 1], None, cache, TOKENS.shape[1] + index))
    return torch.cat(logits_by_pass, dim=1)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "gpt2", "gpt_neox", "gpt_oss", "mistral"])
def test_prompts_under_a_key_cache_resume_and_continue_with_bitwise_equal_logits(name: str) -> None:
    model = any_model(name)
    runs, count = attention_runs(model), len(blocks(model))
    baseline = continued_logits(model, [], 0)
    assert count_untouched_blocks(model, [], cached=True) == count
    assert torch.equal(continued_logits(model, [], count), baseline)
    for index, block in enumerate(blocks(model)):
        interventions = [Intervention("mlp", "zero", layers=(block.layer,))]
        full_run = continued_logits(model, interventions, 0)
        runs.clear()
        skipped = count_untouched_blocks(model, interventions, cached=True)
        assert torch.equal(continued_logits(model, interventions, skipped), full_run)
        assert len(runs) == count - index + 3 * count
    assert torch.equal(continued_logits(model, [], count), baseline), "the stored states were not changed"


def test_model_with_side_outputs_between_blocks_runs_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """No block is skipped if a later block reads the output of its MLP, or if the model's layers are not blocks."""
    model = planted_model()
    outputs: list[Any] = []
    blocks(model)[0].mlp.register_forward_hook(lambda module, inputs, output: outputs.append(output))
    blocks(model)[-1].mlp.register_forward_hook(lambda module, inputs, output: output + outputs[-1])
    assert count_untouched_blocks(model, []) == 0
    assert count_untouched_blocks(planted_model(), []) == 3
    assert count_untouched_blocks(planted_model(), [Intervention("k", "zero", layers=(2,), where="post")]) == 0
    model = planted_model()
    model.config.num_hidden_layers = 4
    assert count_untouched_blocks(model, []) == 0
    mamba = transformers.MambaForCausalLM(transformers.MambaConfig(hidden_size=16, num_hidden_layers=2)).eval()
    assert count_untouched_blocks(mamba, []) == 0
    monkeypatch.setattr(resuming, "MAX_BYTES", 0)
    model = planted_model()
    runs = attention_runs(model)
    for _ in range(2):
        with skip_stored_blocks(model, 3):
            logits(model, [])
    assert len(runs) == 2 * 3, "no more is stored than allowed"


def without_mlp(layer: int, **options: Any) -> evaluation.Condition:
    return evaluation.Condition(str(layer), (Intervention("mlp", "zero", layers=(layer,)),), **options)


IDENTIFIED: tuple[dict[str, Any], ...] = ({}, {"fingerprint": "of these weights"})


def test_losses_reuse_known_states_of_an_identified_model() -> None:
    texts = subject(planted_model()).texts(Options(texts=3))
    losses, counts = [], []
    for facts in IDENTIFIED:
        planted = subject(planted_model(), facts=facts)
        baseline = evaluation.losses(planted, texts)
        runs = attention_runs(planted.model)
        losses.append([baseline] + [evaluation.losses(planted, texts, without_mlp(layer)) for layer in range(3)])
        counts.append(len(runs))
    assert losses[0] == losses[1]
    assert counts == [9, 3 + 2 + 1]


def test_answers_reuse_known_states_of_an_identified_model() -> None:
    """Blocks below an ablated one run once per prompt, and answers equal those of full passes."""
    conditions = [evaluation.BASELINE, *(without_mlp(layer, decode=True) for layer in range(3))]
    answers, counts = [], []
    for facts in IDENTIFIED:
        planted = subject(planted_model(), facts=facts)
        items = planted.book.items(planted.book.tasks()[0], 3, 0, planted.tokenizer)
        runs = attention_runs(planted.model)
        count_untouched_blocks(planted.model, [], cached=True)  # its first call runs texts of its own
        runs.clear()
        answers.append([evaluation.answers(planted, items, condition) for condition in conditions])
        counts.append(sum(length > 1 for length in runs))
    assert answers[0] == answers[1]
    full_count, resumed = counts
    assert resumed == full_count // 4 + full_count // 12 * (3 + 2 + 1)
