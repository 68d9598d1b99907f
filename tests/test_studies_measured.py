"""Tables of measured models: which models they include, and their values."""

import pandas as pd
import pytest

from analysis.studies.measured.models import METRICS, measured_models, measured_profiles
from boundpaper.errors import DataError

MODELS = pd.DataFrame({"model": ["qwen3-8b"], "display_name": ["Qwen3-8B"]})
NO_NAMES = MODELS.iloc[:0]
BINS = tuple(f"ap_bin_{number}" for number in range(8))


def metrics(model, value=0.5, context=4096, names=METRICS):
    return [
        {
            **{"model": model, "metric": name, "value": value, "ci_low": value - 0.1, "ci_high": value + 0.1},
            **{"heads": 20, "key_heads": 5, "context": context, "estimator": "bucket_full", "pairs": "earlier"},
            **{"bins": len(BINS), "reason": ""},
        }
        for name in (*names, *BINS)
    ]


def test_a_pretrained_model_has_the_name_of_its_table():
    names = pd.DataFrame({"model": ["smollm2-135m"], "display_name": ["SmolLM2"]})
    measured = frame(metrics("smollm2-135m"), metrics("random-llama"))
    assert set(measured_models(measured, MODELS, names)["display_name"]) == {"SmolLM2", "random-llama"}
    assert set(measured_profiles(measured, MODELS, names)["display_name"]) == {"SmolLM2", "random-llama"}
    with_code = frame(metrics("smollm2-135m"), metrics("smollm2-135m-code"), metrics("random-llama"))
    assert set(measured_models(with_code, MODELS, names)["model"]) == {"smollm2-135m", "random-llama"}, (
        "one row per model"
    )
    models_at = measured_profiles(with_code, MODELS, names).groupby("position")["model"].apply(set)
    assert models_at.to_dict() == {(bin + 0.5) / 8: {"smollm2-135m", "random-llama"} for bin in range(8)}


def frame(*models):
    return pd.DataFrame([row for model in models for row in model])


def test_small_models_are_not_listed_with_captured_ones():
    small = [metrics(f"tiny-{name}", 0.9, 128) for name in ("rope", "continued", "drope")]
    others = [metrics("random-llama"), metrics("qwen3-8b", 0.7)]
    measured = frame(*small, *others)
    assert list(measured_models(measured, MODELS, NO_NAMES)["display_name"]) == ["Qwen3-8B", "random-llama"]
    assert set(measured_profiles(measured, MODELS, NO_NAMES)["model"]) == {"qwen3-8b", "random-llama"}
    pd.testing.assert_frame_equal(
        measured_models(measured, MODELS, NO_NAMES), measured_models(frame(*others), MODELS, NO_NAMES)
    )
    pd.testing.assert_frame_equal(
        measured_profiles(measured, MODELS, NO_NAMES), measured_profiles(frame(*others), MODELS, NO_NAMES)
    )


def test_only_the_small_lab_models_are_excluded():
    measured = frame(metrics("tiny-rope-nf4"), metrics("tiny-random"), metrics("tiny-rope"))
    assert set(measured_models(measured, MODELS, NO_NAMES)["model"]) == {"tiny-rope-nf4", "tiny-random"}


def test_measurement_without_a_metric_is_refused():
    with pytest.raises(DataError, match=r"model_metrics/random-llama: no metric ap_drop"):
        measured_models(
            frame(metrics("random-llama", names=[name for name in METRICS if name != "ap_drop"])), MODELS, NO_NAMES
        )
