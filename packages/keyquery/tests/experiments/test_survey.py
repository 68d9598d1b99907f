"""Experiments on surveys: planted models give known rows, and missing values have a reason."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import keyquery as kq
from boundpaper.errors import DataError
from keyquery.experiments import attention_patterns, bos_value, crosslayer_balance, layer_content, massive_values, sinks
from keyquery.measure.over_texts import over_texts
from keyquery.measure.rows import frame
from keyquery.measure.subject import Options, Subject
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.surveys.forward import SurveyOptions, survey_text
from keyquery.models.surveys.record import TextSurvey
from models_planted import only_row
from models_tiny import built, saved, text

pytestmark = pytest.mark.models

TOKENS, TEXTS = 24, 3
HARMONIC = float((1 / np.arange(1, TOKENS + 1)).sum() / TOKENS)
EXPERIMENTS: dict[str, Callable[[Sequence[TextSurvey]], list[dict[str, Any]]]] = {
    "massive_values": massive_values.rows,
    "attention_patterns": attention_patterns.rows,
    "layer_content": layer_content.rows,
    "crosslayer_balance": crosslayer_balance.rows,
    "sinks": sinks.survey_rows,
    "bos_value": bos_value.survey_rows,
}


def surveyed(model: Any, texts: int = TEXTS, **options: Any) -> list[TextSurvey]:
    surveys = []
    for number in range(texts):
        ids = torch.randint(4, 64, (1, TOKENS), generator=torch.Generator().manual_seed(number))
        ids[0, 0] = 1
        surveys.append(survey_text(model, ids, SurveyOptions(**options), text=f"text-{number}"))
    return surveys


@cache
def llama_surveys() -> list[TextSurvey]:
    return surveyed(built("llama"))


def value(rows: list[dict[str, Any]], metric: str, **where: Any) -> float:
    row = only_row(rows, metric, **where)
    assert row["n"] > 0
    assert row["reason"] == ""
    return float(row["value"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_rows_are_unique_and_missing_values_have_reasons(name: str) -> None:
    """A single text has no spread, and its rows say so."""
    for surveys in (llama_surveys(), llama_surveys()[:1]):
        table = frame(EXPERIMENTS[name](surveys), "rope", "fp32")
        keys = ["condition", "layer", "head", "unit_id", "metric"]
        assert not table.duplicated(keys).any()
        assert (table["value"].isna() == (table["reason"] != "")).all()
        assert (table["value"].isna() == (table["n"] == 0)).all()
        assert len(table) > 20
        assert {"text-0"} <= set(table["unit_id"])
        single = table[table["metric"].str.endswith("_sd")]
        assert len(single) > 0
        if len(surveys) == 1:
            assert single["value"].isna().all()
            assert "one text has no spread" in set(single["reason"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_surveys_of_different_models_or_settings_are_refused(name: str) -> None:
    first, second, _ = llama_surveys()
    with pytest.raises(DataError, match="at least 1"):
        EXPERIMENTS[name]([])
    with pytest.raises(DataError, match="surveyed twice"):
        EXPERIMENTS[name]([first, first])
    with pytest.raises(DataError, match="different models or settings"):
        EXPERIMENTS[name]([first, replace(second, where="post")])


def test_mean_over_texts_leaves_missing_ones_out() -> None:
    mean, spread = over_texts("x", [1.0, np.nan, 2.0, 6.0], layer=3)
    assert (mean["metric"], mean["value"], mean["n"], mean["layer"]) == ("x", 3.0, 3, 3)
    assert spread["metric"] == "x_sd"
    assert spread["value"] == pytest.approx(7**0.5)
    missing, _ = over_texts("x", [np.nan], "nothing there")
    assert (missing["value"], missing["n"], missing["reason"]) == (None, 0, "nothing there")


class Words:
    """A book of random words."""

    name = "words"

    def kinds(self) -> tuple[str, ...]:
        return ("words",)

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        return [text(tokens, seed * 100 + number) for number in range(count)]


@pytest.mark.parametrize("module", [massive_values, attention_patterns, layer_content, crosslayer_balance])
def test_experiment_measures_a_loaded_model(tmp_path: Path, module: Any) -> None:
    loaded = load(ModelSource(str(saved("llama", tmp_path / "model")), dtype="fp32", device="cpu"))
    book: Any = Words()
    subject = Subject(
        name="words", model=loaded.model, tokenizer=loaded.tokenizer, book=book, positional="rope", training_length=16
    )
    rows = module.measure(subject, Options(texts=2, seeds=(0, 1)))
    assert len(frame(rows, "rope", "fp32")) > 20
    assert {row["unit_id"] for row in rows} == {"", "words-0-0", "words-0-1", "words-1-0", "words-1-1"}
    assert isinstance(module.SETTINGS, dict)


@pytest.mark.parametrize("architecture", ["gpt_neox", "mistral", "gemma3"])
def test_every_experiment_measures_other_architectures(architecture: str) -> None:
    """Each model has sliding windows, norms after attention and MLP, or a key head for every query head."""
    surveys = surveyed(built(architecture), texts=2)
    for rows in EXPERIMENTS.values():
        assert len(frame(rows(surveys), "rope", "fp32")) > 20


def test_planted_massive_dimensions_are_found() -> None:
    """Two rows of the query projection and one of the key projection are scaled: only these count, in every text."""
    model = built("llama")
    attention = model.model.layers[1].self_attn
    for row in (2, 19):
        attention.q_proj.weight.data[row] *= 40
    attention.k_proj.weight.data[9] *= 40
    surveys = surveyed(model)
    large = massive_values.massive_mask(surveys[0].norms_q[1], 5)
    assert np.argwhere(large).tolist() == [[0, 2], [2, 3]]
    rows = massive_values.rows(surveys)
    for threshold in ("5", "8"):
        where = {"condition": f"pre lambda={threshold}"}
        assert [value(rows, "massive_q", layer=layer, **where) for layer in range(3)] == [0, 2, 0]
        assert value(rows, "massive_q_sd", layer=1, **where) == 0
        assert value(rows, "massive_total_q", unit_id="text-1", **where) == 2
        assert value(rows, "massive_every_text_q", **where) == 2
        assert value(rows, "massive_total_k", **where) == 1
        ratio = only_row(rows, "massive_ratio_q", **where)
        assert ratio["n"] == 2 * TEXTS
        assert ratio["value"] > 8
    largest = (surveys[0].norms_q[1] / surveys[0].norms_q[1].mean()).max()
    assert value(rows, "largest_ratio_q", condition="pre", unit_id="text-0") == pytest.approx(largest)
    assert value(rows, "gini_q", condition="pre", layer=1) > value(rows, "gini_q", condition="pre", layer=0) + 0.2


def test_without_massive_dimensions_counts_are_zero() -> None:
    rows = massive_values.rows(llama_surveys())
    for tensor in massive_values.TENSORS:
        where = {"condition": "pre lambda=8"}
        assert value(rows, f"massive_total_{tensor}", **where) == 0
        assert value(rows, f"massive_every_text_{tensor}", **where) == 0
        missing = only_row(rows, f"massive_ratio_{tensor}", **where)
        assert (missing["value"], missing["n"]) == (None, 0)
        assert "no dimension" in missing["reason"]
    empty = [replace(survey, norms_v=np.zeros_like(survey.norms_v)) for survey in llama_surveys()]
    missing = only_row(massive_values.rows(empty), "gini_v", condition="pre", layer=0)
    assert missing["n"] == 0
    assert missing["reason"] == "all v are zero"


def test_gini_equals_values_known_by_hand() -> None:
    assert massive_values.gini(np.full((4, 8), 2.5)) == pytest.approx(0)
    single = np.zeros((4, 8))
    single[1, 2] = 7
    assert massive_values.gini(single) == pytest.approx(1 - 1 / 32)
    assert massive_values.gini(np.array([1.0, 3.0])) == pytest.approx(0.25)
    assert np.isnan(massive_values.gini(np.zeros(3)))


def attend_to_first(model: Any, layer: int) -> None:
    """Set a layer's queries and keys so that each token attends only to the first token."""
    attention = model.model.layers[layer].self_attn

    def queries(module: Any, inputs: Any, output: Any) -> Any:
        planted = torch.zeros_like(output)
        planted[..., 3::8] = 100.0  # the slowest rotation barely rotates it
        return planted

    def keys(module: Any, inputs: Any, output: Any) -> Any:
        planted = torch.zeros_like(output) + 1e-3
        planted[:, 0, 3::8] = 100.0
        return planted

    attention.q_proj.register_forward_hook(queries)
    attention.k_proj.register_forward_hook(keys)


def test_planted_sinks_are_found() -> None:
    """One layer attends only to the first token and another uniformly, so scores and rates are known."""
    model = built("llama")
    attend_to_first(model, 1)
    model.model.layers[2].self_attn.q_proj.weight.data *= 1e-9
    rows = sinks.survey_rows(surveyed(model))
    later = float((1 / np.arange(2, TOKENS + 1)).mean())
    for condition, null in (("rows=all", HARMONIC), ("rows=later", later)):
        where = {"condition": condition}
        for head in range(4):
            assert value(rows, "sink_score", layer=1, head=head, **where) == pytest.approx(1)
            assert value(rows, "sink_score", layer=2, head=head, **where) == pytest.approx(null, rel=1e-5)
        assert value(rows, "uniform_null", layer=2, **where) == pytest.approx(null)
        assert value(rows, "sink_excess", layer=1, **where) == pytest.approx(1 - null)
        assert value(rows, "sink_excess", layer=2, **where) == pytest.approx(0, abs=1e-6)
        assert value(rows, "sink_rate", condition=f"{condition} tau=0.8", layer=1) == 1
        assert value(rows, "sink_rate", condition=f"{condition} tau=0.2", layer=2) == 0
    assert value(rows, "sink_rate", condition="rows=all tau=0.1", layer=2) == 1, "uniform attention exceeds a low tau"
    assert value(rows, "uniform_null", condition=f"T={TOKENS}") == pytest.approx(HARMONIC)
    rates = [value(rows, "sink_rate", condition=f"rows=all tau={tau:g}") for tau in sinks.TAUS]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] >= 1 / 3
    assert value(rows, "first_is_bos") == 1


def test_uniform_null_of_the_sink_rate_depends_on_length() -> None:
    short = survey_text(built("llama"), torch.arange(4, 14)[None], text="short")
    rows = sinks.survey_rows([*llama_surveys(), short])
    assert value(rows, "uniform_null", condition="T=10") == pytest.approx((1 / np.arange(1, 11)).mean())
    assert only_row(rows, "uniform_null", condition=f"T={TOKENS}")["n"] == TEXTS
    assert value(rows, "first_is_bos") == 0.75


def surveys_with_spike(layer: int, size: float) -> list[TextSurvey]:
    model = built("llama")

    def plant(module: Any, inputs: Any, output: Any) -> Any:
        output = output.clone()
        output[:, 0, 0] += size
        return output

    model.model.layers[layer].mlp.register_forward_hook(plant)
    return surveyed(model)


def test_planted_spike_is_found_by_all_definitions() -> None:
    surveys = surveys_with_spike(1, 3000.0)
    assert sinks.spike_layers(surveys) == dict.fromkeys(sinks.SPIKES, 1)
    rows = sinks.survey_rows(surveys)
    for name in sinks.SPIKES:
        assert value(rows, "spike_layer", condition=name) == 1
        assert value(rows, "spike_layer", condition=name, unit_id="text-2") == 1
        assert value(rows, "spike_ratio", condition=name) > 20
    assert value(rows, "first_norm", layer=1) == pytest.approx(3000, rel=0.05)
    assert value(rows, "first_ratio", layer=1) > 20 > value(rows, "first_ratio", layer=0)
    all_tokens, content = (
        value(rows, "hidden_entropy", layer=1, condition=f"squared {kind}") for kind in ("all", "content")
    )
    assert all_tokens < 0.5 < content


def test_definitions_of_the_spike_can_differ() -> None:
    first, *_ = llama_surveys()
    norms = np.array([1.0, 3.0, 30.0, 80.0])
    mixed = replace(first, residual_first=norms, residual_mean=np.array([1.0, 1.0, 2.0, 40.0]))
    assert sinks.spike_layers([mixed]) == dict(zip(sinks.SPIKES, (0, 1, 2), strict=True))


def test_without_a_spike_each_definition_gives_a_reason() -> None:
    """The first token's norm falls from layer to layer, so no definition finds a spike."""
    falling = [
        replace(survey, residual_first=np.array([4.0, 3.0, 2.0, 1.0]), residual_mean=np.full(4, 5.0))
        for survey in llama_surveys()
    ]
    rows = sinks.survey_rows(falling)
    for name in sinks.SPIKES:
        for metric in ("spike_layer", "spike_ratio"):
            missing = only_row(rows, metric, condition=name)
            assert (missing["value"], missing["n"]) == (None, 0)
            assert missing["reason"] == sinks.NO_SPIKE[name]
        assert only_row(rows, "spike_layer", condition=name, unit_id="text-0")["n"] == 0
    zero_means = [replace(survey, residual_mean=np.zeros(4)) for survey in llama_surveys()]
    missing = only_row(sinks.survey_rows(zero_means), "first_ratio", layer=0)
    assert missing["n"] == 0
    assert missing["reason"]


def test_omitted_entropy_has_a_reason() -> None:
    rows = sinks.survey_rows(surveyed(built("llama"), texts=2, entropy=False))
    missing = only_row(rows, "hidden_entropy", condition="squared all", layer=0)
    assert missing["n"] == 0
    assert missing["reason"] == "the survey left it out"


def test_write_norm_of_a_planted_value_is_that_of_its_key_head() -> None:
    """All attention goes to a first token with values of norm 6 and 2: each query head writes its key head's value."""
    model = built("llama")
    attend_to_first(model, 1)

    def plant(module: Any, inputs: Any, output: Any) -> Any:
        planted = torch.ones_like(output) / 8**0.5
        planted[:, 0, :8] *= 6
        planted[:, 0, 8:] *= 2
        return planted

    model.model.layers[1].self_attn.v_proj.register_forward_hook(plant)
    rows = bos_value.survey_rows(surveyed(model))
    assert [value(rows, "write", layer=1, head=head) for head in range(4)] == pytest.approx([6, 6, 2, 2])
    first = [value(rows, "value_first", layer=1, head=head, condition="key head") for head in (0, 1)]
    assert first == pytest.approx([6, 2])
    assert value(rows, "value_content", layer=1) == pytest.approx(1)
    assert value(rows, "value_ratio", layer=1) == pytest.approx(4)
    assert value(rows, "write", layer=1) == pytest.approx(4)
    assert value(rows, "first_mass", layer=1) == pytest.approx(1)
    silent = [replace(survey, value_content=np.zeros_like(survey.value_content)) for survey in llama_surveys()]
    missing = only_row(bos_value.survey_rows(silent), "value_ratio", layer=0)
    assert (missing["n"], missing["reason"]) == (0, bos_value.NO_VALUES)


def test_attention_patterns_are_classified() -> None:
    """Heads with given measures, a layer that attends to the first token and a uniform layer are classified."""
    assert attention_patterns.pattern_of(0.5, 0.2, 0.1) == "sink"
    assert attention_patterns.pattern_of(0.4, 0.5, 0.9) == "local"
    assert attention_patterns.pattern_of(0.1, 0.2, 0.7) == "distributed"
    assert attention_patterns.pattern_of(0.1, 0.2, 0.3) == "mixed"
    model = built("llama")
    attend_to_first(model, 1)
    model.model.layers[2].self_attn.q_proj.weight.data *= 1e-9
    rows = attention_patterns.rows(surveyed(model), attention_patterns.Thresholds(local=0.45))
    condition = "sink>=0.3 local>=0.45 distributed>=0.7"
    for layer, kind in ((1, "sink"), (2, "distributed")):
        counts = {name: value(rows, f"heads_{name}", layer=layer, condition=condition) for name in ("sink", "local")}
        assert value(rows, f"heads_{kind}", layer=layer, condition=condition) == 4
        assert sum(counts.values()) == (4 if kind == "sink" else 0)
        assert value(rows, f"pattern_{kind}", layer=layer, head=3, condition=condition) == 1
    lengths = np.arange(1, TOKENS + 1)
    assert value(rows, "entropy", layer=2) == pytest.approx(np.log(lengths).mean(), rel=1e-5)
    assert value(rows, "entropy_share", layer=2) == pytest.approx(1, rel=1e-5)
    assert value(rows, "self_attention", layer=2) == pytest.approx(HARMONIC, rel=1e-5)
    assert value(rows, "attention_at_distance", layer=2, condition="distance=0") == pytest.approx(HARMONIC, rel=1e-5)
    assert value(rows, "attention_at_distance_content", layer=1, condition="distance=4-7") == pytest.approx(0, abs=1e-6)
    share = value(rows, "attention_at_distance", layer=1, condition="distance=4-7")
    assert share == pytest.approx(4 / sum(TOKENS - gap for gap in range(4, 8)), rel=1e-5)


def test_distances_outside_a_window_have_no_attention() -> None:
    rows = attention_patterns.rows(surveyed(built("mistral"), texts=2))
    missing = only_row(rows, "attention_at_distance", layer=0, condition="distance=8-15")
    assert missing["n"] == 0
    assert "no pair" in missing["reason"]
    assert value(rows, "attention_at_distance", layer=0, condition="distance=2-3") > 0


def test_shares_of_attention_and_mlp_follow_planted_zeros() -> None:
    """Attention has share 0 if it adds nothing, share 1 if the MLP adds nothing, and no share if neither adds."""
    model = built("llama")
    model.model.layers[0].self_attn.o_proj.weight.data.zero_()
    model.model.layers[1].mlp.down_proj.weight.data.zero_()
    surveys = surveyed(model)
    rows = layer_content.rows(surveys)
    for name in ("contribution_mean_of_ratios", "contribution_ratio_of_means"):
        assert [value(rows, name, layer=layer, condition="all") for layer in (0, 1)] == [0, 1]
        assert 0 < value(rows, name, layer=2, condition="content") < 1
    assert value(rows, "cosine_attention", layer=1, condition="first") == pytest.approx(1)
    assert only_row(rows, "cosine_attention", layer=0, condition="all")["reason"] == "attention or the update is zero"
    assert value(rows, "mlp_norm", layer=1, condition="all") == 0
    balance = crosslayer_balance.rows(surveys)
    name = "contribution_ratio_of_means"
    assert value(balance, f"{name}_largest_layer", unit_id="text-0", condition="all") == 1
    shares = [value(balance, name, layer=layer, condition="all") for layer in range(3)]
    by_text = [value(balance, f"{name}_mean", unit_id=f"text-{number}", condition="all") for number in range(TEXTS)]
    assert np.mean(by_text) == pytest.approx(np.mean(shares))
    larger = value(balance, f"{name}_attention_larger", unit_id="text-0", condition="all")
    last = surveys[0].attention_norm[2, 0] > surveys[0].mlp_norm[2, 0]
    assert larger == 1 + int(last)
    model.model.layers[1].self_attn.o_proj.weight.data.zero_()
    silent = surveyed(model)
    missing = only_row(layer_content.rows(silent), name, layer=1, condition="all")
    assert (missing["value"], missing["n"], missing["reason"]) == (None, 0, "neither attention nor MLP adds anything")
    for column in ("mean", "sd_over_layers", "attention_larger", "largest_layer"):
        missing = only_row(crosslayer_balance.rows(silent), f"{name}_{column}", unit_id="text-0", condition="all")
        assert (missing["n"], missing["reason"]) == (0, "undefined in at least one layer")


def test_ratio_of_means_is_not_mean_of_ratios() -> None:
    first, *_ = llama_surveys()
    shares = layer_content.attention_shares([first])
    a, m = first.attention_norm, first.mlp_norm
    np.testing.assert_allclose(shares["contribution_ratio_of_means"][0], a / (a + m))
    np.testing.assert_array_equal(shares["contribution_mean_of_ratios"][0], first.share)
    assert np.abs(a / (a + m) - first.share)[:, 0].max() > 1e-4


def test_scaled_updates_have_no_shares() -> None:
    scaled = [replace(survey, unexplained=np.array([0.0, 0.3, 0.0])) for survey in llama_surveys()]
    rows = layer_content.rows(scaled)
    missing = only_row(rows, "attention_norm", layer=1, condition="all")
    assert (missing["n"], missing["reason"]) == (0, layer_content.SCALED)
    assert value(rows, "unexplained", layer=1) == pytest.approx(0.3)
    assert value(rows, "attention_norm", layer=0, condition="all") > 0
    assert value(rows, "q_norm", layer=1, condition="all") > 0, "projections are what they are"
    balance = crosslayer_balance.rows(scaled)
    assert only_row(balance, "contribution_ratio_of_means", layer=1, condition="all")["reason"] == layer_content.SCALED


def test_a_model_of_one_layer_has_no_spread_over_layers() -> None:
    first, second, _ = llama_surveys()
    surveys = [with_one_layer(survey) for survey in (first, second)]
    for name, rows in EXPERIMENTS.items():
        assert len(frame(rows(surveys), "rope", "fp32")) > 10, name
    name = "contribution_ratio_of_means_sd_over_layers"
    missing = only_row(crosslayer_balance.rows(surveys), name, unit_id="text-0", condition="all")
    assert (missing["n"], missing["reason"]) == (0, "one layer has no spread")


def with_one_layer(survey: TextSurvey) -> TextSurvey:
    changed: dict[str, Any] = {}
    for name, array in vars(survey).items():
        if isinstance(array, np.ndarray) and name != "edges":
            changed[name] = array[: len(array) - len(survey.layers) + 1]
    return replace(survey, **changed)


@pytest.mark.parametrize(("name", "hidden"), [("sinks", ("qk", "combined_best")), ("bos_value", ("bos_value_all",))])
def test_model_that_hides_projections_lacks_only_rows_that_need_them(
    tmp_path: Path, name: str, hidden: tuple[str, ...]
) -> None:
    """GPT-2 has one projection for queries, keys and values, but its sink survey needs none of them separately."""
    config = transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1)
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    saved("llama", tmp_path / "words")
    load(ModelSource(str(tmp_path / "words"), device="cpu")).tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("\n".join(json.dumps({"text": text(64, n)}) for n in range(3)))
    options = {"texts": 1, "tokens": 32, "items": 0, "texts_from": str(tmp_path / "texts.jsonl")}
    rows = kq.run(name, kq.load(str(tmp_path / "model"), device="cpu", dtype="fp32"), **options)
    for condition in hidden:
        condition_rows = rows[(rows["condition"] == condition) & (rows["metric"] == "nats")]
        assert condition_rows["value"].isna().all()
        words = "GPT2Attention computes '[qv]' together with other vectors .* on '[qv]' alone"
        assert condition_rows["reason"].str.contains(words).all()
    baseline_rows = rows[(rows["condition"] == "baseline") & (rows["metric"] == "nats")]
    assert baseline_rows["value"].notna().all()
    assert rows[rows["unit_id"] != ""]["value"].notna().any()
