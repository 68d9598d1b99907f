"""Rotations that a user states for a capture are applied, or refused with an error that says what to write."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import gguf
import pyarrow
import torch
import transformers
from pyarrow import parquet

import gguf_made
from boundpaper.errors import DataError, ModelError
from captures_made import captured
from keyquery.heads.head import Head as HeadVectors
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.measure.heads.analysis import run as heads_command
from keyquery.models.attention.rotations import rotations
from keyquery.models.captures.reading import Capture, open_capture
from keyquery.models.captures.stated import with_stated_rotation
from keyquery.models.checkpoints.gguf import dequantise
from keyquery.models.checkpoints.gguf_keys import apply_keys
from keyquery.rotary import NO_ROTATION, Rotary, from_theta
from models_tiny import SIZES, saved, text

pytestmark = pytest.mark.models


def without_manifest(capture: Capture) -> Capture:
    (capture.root / "manifest.json").unlink()
    return open_capture(capture.root)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return by architecture the model's folder, the rotations in its capture, and the capture without a manifest."""
    by_name = {}
    for name in ("llama", "gpt_neox"):
        folder = tmp_path_factory.mktemp(name)
        model = saved(name, folder / "model")
        capture = captured(model, folder / "here", lambda seed: text(70, seed))
        by_name[name] = {"model": model, "rotations": capture.rotations, "bare": without_manifest(capture)}
    return by_name


def write_rotation(folder: Path, content: Any) -> Path:
    path = folder / "rotation.json"
    path.write_text(json.dumps(content))
    return path


STATED: list[Any] = [
    {"theta": 1e4, "layout": "half"},
    {"theta": 10000, "layout": "half", "dimensions": 8, "start": 0, "factor": 1.0},
    {"frequencies": [1.0, 0.1, 0.01, 0.001], "layout": "half"},
    [{"theta": 1e4, "layout": "half", "layers": [0, 2, 7]}, {"theta": 1e4, "layout": "half", "layers": [1]}],
]


@pytest.mark.parametrize("content", STATED)
def test_stated_rotation_equals_that_of_the_model(models: dict[str, Any], tmp_path: Path, content: Any) -> None:
    actual = with_stated_rotation(models["llama"]["bare"], write_rotation(tmp_path, content)).rotations
    assert actual is not None
    for layer, expected in models["llama"]["rotations"].items():
        stated = actual[layer]
        assert isinstance(stated, Rotary)
        assert (stated.layout, stated.start, stated.factor) == (expected.layout, expected.start, expected.factor)
        np.testing.assert_allclose(stated.frequencies, expected.frequencies, rtol=1e-5)


def test_rotation_can_be_stated_by_a_model_configuration(models: dict[str, Any], tmp_path: Path) -> None:
    """The configuration may be a folder or a file, and may rotate only a part of each head."""
    for name, file in (("llama", ""), ("gpt_neox", "config.json")):
        actual = with_stated_rotation(models[name]["bare"], models[name]["model"] / file).rotations
        assert actual == models[name]["rotations"]
    scaled = json.loads((models["llama"]["model"] / "config.json").read_text())
    yarn = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
    scaled["rope_parameters"] = yarn
    actual = with_stated_rotation(models["llama"]["bare"], write_rotation(tmp_path, scaled)).rotations
    assert actual is not None
    assert isinstance(actual[0], Rotary)
    assert actual[0].factor == pytest.approx(0.1 * np.log(4) + 1)


def test_heads_uses_the_stated_rotation(models: dict[str, Any], lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command uses the aligned estimator, and its measurements state the rotation."""

    def measured(content: Any) -> Any:
        settings: dict[str, Any] = {"estimator": None, "pairs": "earlier", "bins": 4, "min_queries": 30, "jobs": 1}
        root, path = str(models["llama"]["bare"].root), write_rotation(lab, content)
        return heads_command(lab, root, **settings, name="m", rotation=path)

    files = measured(STATED[0])
    assert "as captured" not in capsys.readouterr().err
    record = json.loads((lab / Path(files[0]).with_suffix(".json")).read_text())
    assert record["options"]["estimator"] == "aligned_full"
    assert record["options"]["rotation"][0]["layers"] == [0, 1, 2]
    assert "--rotation rotation.json" in record["command"]
    with pytest.raises(DataError, match="m"):  # another rotation makes another measurement
        measured({"theta": 9e3, "layout": "half"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"theta": 1e4}, "no layout; say how dimensions are paired: half or interleaved"),
        ({"theta": 1e4, "layout": "neox"}, "layout: 'neox' is not supported"),
        ({"layout": "half"}, "give either theta or frequencies"),
        ({"theta": 1e4, "frequencies": [1.0], "layout": "half"}, "give either theta or frequencies"),
        ({"theta": 1e4, "layout": "half", "dimension": 8}, "unknown key 'dimension'; did you mean 'dimensions'"),
        ({"theta": 1e4, "layout": "half", "dimensions": 7}, "7 dimensions cannot rotate in pairs"),
        ({"theta": 1e4, "layout": "half", "dimensions": 10}, "rotates layer 0 up to dimension 10, but its vectors"),
        ({"theta": -1, "layout": "half"}, "theta: -1 is not above 0"),
        ({"theta": "big", "layout": "half"}, "theta: 'big' is not a number"),
        ({"frequencies": [1.0, 0.1], "layout": "half", "dimensions": 8}, "2 frequencies rotate 4 dimensions, not 8"),
        ({"theta": 1e4, "layout": "half", "layers": [0, 1]}, "no rotation stated for layer 2"),
        ([{"theta": 1e4, "layout": "half"}], "entry 1: no layers"),
        ([{"theta": 1e4, "layout": "half", "layers": [0]}] * 2, "entry 2: layer 0 has two entries"),
        ({"unturned": True, "theta": 1e4}, "`unturned` is given together with `theta`"),
        (["half"], "entry 1: 'half' is not a mapping"),
        ({"model_type": "nope"}, "no narrow version of model type nope"),
    ],
)
def test_incomplete_or_contradictory_rotation_statements_are_refused(
    models: dict[str, Any], tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        with_stated_rotation(models["llama"]["bare"], write_rotation(tmp_path, content))


def test_rotation_stated_for_a_capture_that_has_one_is_refused(tmp_path: Path) -> None:
    capture = captured(saved("llama", tmp_path / "model"), tmp_path / "here", lambda seed: text(70, seed))
    with pytest.raises(DataError, match="already states its rotation"):
        with_stated_rotation(capture, write_rotation(tmp_path, STATED[0]))
    path = tmp_path / "no.yaml"
    path.write_text("theta: [\n")
    with pytest.raises(DataError, match=r"no\.yaml:2: did not find"):
        with_stated_rotation(without_manifest(capture), path)


def rotated_content(rotary: Rotary, tokens: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors whose mean is not 0, a position for each vector, and the vectors rotated to these positions."""
    rng = np.random.default_rng(3)
    content = rng.normal(size=(tokens, 8)) + 2 * rng.normal(size=8)
    positions = rng.integers(0, 512, tokens)
    return content, positions, rotary.turned(content, positions)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("start", [0, 2])
def test_plasticity_of_user_arrays_uses_the_stated_rotation(layout: Any, start: int) -> None:
    """Plasticity with a stated rotation equals that of queries rotated to the bin centres by hand."""
    rotary = from_theta(100.0, 6, layout=layout, start=start)
    queries, positions, rotated = rotated_content(rotary)
    _keys, key_positions, rotated_keys = rotated_content(rotary, tokens=400)
    settings: dict[str, Any] = {
        "keys": rotated_keys, "context": 512, "buckets": 4,
        "query_positions": positions, "query_documents": np.zeros(600, int),
        "key_positions": key_positions, "key_documents": np.zeros(400, int),
    }  # fmt: skip
    options = PlasticityOptions(precision="double")
    actual = plasticity(HeadVectors(queries=rotated, rotary=rotary, **settings), options).profile.values
    # queries rotated to the bin's centre c, keys unchanged: R(c) x by hand
    for bin_number, centre in enumerate((64, 192, 320, 448)):
        rows = positions * 4 // 512 == bin_number
        by_hand = rotated.copy()
        by_hand[rows] = rotary.turned(queries[rows], np.full(rows.sum(), centre))
        expected = plasticity(HeadVectors(queries=by_hand, rotary=NO_ROTATION, **settings), options).profile.values
        assert actual[bin_number] == pytest.approx(expected[bin_number], abs=1e-9)


def test_stated_rotation_that_the_vectors_contradict_is_refused(tmp_path: Path) -> None:
    """A stated rotation is refused if its layout is wrong, or if the vectors were not rotated."""
    rotary = from_theta(100.0, 8, layout="interleaved")
    content, positions, rotated = rotated_content(rotary)
    for folder, vectors in (("rotated", rotated), ("plain", content)):
        for name in ("l00h00q", "l00h00k"):
            path = tmp_path / folder / name / "data.parquet"
            path.parent.mkdir(parents=True)
            columns: dict[str, Any] = {
                "bucket": pyarrow.array((positions // 128).astype(np.int32)),
                "example_id": pyarrow.array(np.zeros(600, np.int32)),
                "position": pyarrow.array(positions.astype(np.int32)),
                "vector": pyarrow.array(vectors.astype(np.float32).tolist(), pyarrow.list_(pyarrow.float32(), 8)),
            }
            parquet.write_table(pyarrow.table(columns), path)
    right = write_rotation(tmp_path, {"theta": 100.0, "layout": "interleaved"})
    capture = open_capture(tmp_path / "rotated")
    assert with_stated_rotation(capture, right).rotation(0) == rotary
    with pytest.raises(DataError, match=r"the vectors contradict this rotation: .* with layout interleaved"):
        with_stated_rotation(capture, write_rotation(tmp_path, {"theta": 100.0, "layout": "half"}))
    with pytest.raises(DataError, match=r"the vectors contradict this rotation: .* as they are"):
        with_stated_rotation(open_capture(tmp_path / "plain"), right)


def write_linear(writer: Any) -> None:
    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)


def write_yarn(writer: Any) -> None:
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(8.0)
    writer.add_rope_scaling_orig_ctx_len(32)


def write_llama3(writer: Any) -> None:
    turns = 8192 / (2 * np.pi * gguf_made.BASE ** (np.arange(8) / 8))
    smooth = np.clip((turns - 1) / 3, 0, 1)
    writer.add_tensor("rope_freqs.weight", (1 / ((1 - smooth) / 8 + smooth)).astype(np.float32))


def write_plain(writer: Any) -> None:
    """Write no scaling of the rotation."""


@pytest.mark.parametrize("scaling", [write_plain, write_linear, write_yarn, write_llama3])
def test_aligned_queries_of_a_gguf_model_equal_unrotated_ones(scaling: Callable[[Any], None], tmp_path: Path) -> None:
    """For every scaling in the file, R(-t) q_t equals the projection's output, with R from the capture's manifest."""
    gguf_made.made(tmp_path / "made.gguf", more=scaling)
    folder = dequantise(tmp_path / "made.gguf", tmp_path / "folder", "hash")

    def words(seed: int) -> str:
        return " ".join(f"w{gguf_made.ENDS[(3 * seed + 7 * index) % 10]}" for index in range(80))

    after = captured(folder, tmp_path / "after", words, context=32)
    before = captured(folder, tmp_path / "before", words, context=32, pre_rope=True)
    for head in after.heads:
        rotary = after.rotation(head.layer)
        assert isinstance(rotary, Rotary)
        assert (rotary.layout, 2 * len(rotary.frequencies)) == ("half", gguf_made.WIDTH // gguf_made.HEADS)
        rotated, expected = after.queries(head), before.queries(head)
        assert np.array_equal(rotated.position, expected.position)
        content = rotary.turned(rotated.vectors.astype(np.float64), -rotated.position.astype(np.int64)) / rotary.factor
        np.testing.assert_allclose(content, expected.vectors, atol=2e-5 * np.abs(expected.vectors).max())
    unscaled = gguf_made.BASE ** -(np.arange(8) / 8)
    rotary = after.rotation(0)
    assert isinstance(rotary, Rotary)
    frequencies = np.array(rotary.frequencies)
    if scaling is write_linear:
        np.testing.assert_allclose(frequencies, unscaled / 4, rtol=1e-6)
    if scaling is write_yarn:
        assert frequencies[0] == pytest.approx(1.0)
        assert frequencies[-1] == pytest.approx(unscaled[-1] / 8)


@pytest.mark.parametrize(("kind", "count"), [("StableLm", 2), ("StableLm", 8), ("Nemotron", 6)])
def test_gguf_rotary_dimension_count_is_used(kind: str, count: int) -> None:
    """The model class rotates as many dimensions as the file states, whatever its default."""
    config = getattr(transformers, f"{kind}Config")(**SIZES)
    name = kind.lower()
    apply_keys({"general.architecture": name, f"{name}.rope.dimension_count": count}, None, config)
    torch.manual_seed(0)
    actual = rotations(transformers.AutoModelForCausalLM.from_config(config).eval(), 32)
    assert {2 * len(rotary.frequencies) for rotary in actual.values() if isinstance(rotary, Rotary)} == {count}


def test_partial_rotation_is_refused_for_a_class_that_rotates_whole_heads() -> None:
    keys = {"general.architecture": "llama", "llama.rope.dimension_count": 4}
    with pytest.raises(ModelError, match=r"llama.rope.dimension_count is 4"):
        apply_keys(keys, None, transformers.LlamaConfig(**SIZES))
