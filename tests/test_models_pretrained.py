"""Models in GGUF files and packages: weights equal the file's, conversions are cached, changed files are refused."""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gguf")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import gguf_made  # noqa: E402
from boundpaper.errors import MissingDependency, ModelError  # noqa: E402
from keyquery.models.checkpoints import gguf, pretrained  # noqa: E402
from keyquery.models.checkpoints.builtin import resolve  # noqa: E402
from keyquery.models.checkpoints.loading import ModelSource, load  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    path = tmp_path_factory.mktemp("gguf") / "made.gguf"
    return path, gguf_made.made(path)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def folder(project: Path, file: tuple[Path, Any]) -> Path:
    return Path(resolve(project, str(file[0])))


def test_gguf_weights_equal_the_dequantised_blocks(folder: Path, file: tuple[Path, dict[str, np.ndarray]]) -> None:
    loaded = load(ModelSource(str(folder), device="cpu"))
    state = loaded.model.state_dict()
    for name, values in file[1].items():
        assert np.array_equal(state[name].numpy(), values), name
    plain = transformers.LlamaForCausalLM(transformers.LlamaConfig(**gguf_made.shape())).eval()
    plain.load_state_dict({name: torch.tensor(values) for name, values in file[1].items()}, strict=False)
    plain.tie_weights()
    tokens = torch.arange(3, 30)[None]
    with torch.no_grad():
        assert torch.allclose(loaded.model(tokens).logits, plain(tokens).logits, atol=1e-5)
    tokens_of_words = loaded.tokenizer("wc we")["input_ids"]
    assert tokens_of_words == [gguf_made.WORDS.index(word) for word in ("wc", gguf_made.SPACE + "we")]


def test_loaded_facts_name_the_gguf_file(folder: Path, file: tuple[Path, Any]) -> None:
    facts = load(ModelSource(str(folder), device="cpu")).facts
    assert facts["gguf"]["name"] == "made.gguf"
    assert facts["gguf"]["quantization"] == "Q4_1"
    assert facts["gguf"]["tensors"] == {"F32": 5, "Q4_1": 15}
    assert facts["gguf"]["sha256"] == pretrained._hash_of_files([file[0]])
    assert facts["dtype"] == "float32"
    assert facts["quantization"] is None


def test_gguf_conversion_is_cached_and_refused_when_changed(
    tmp_path: Path, file: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = pretrained._hash_of_files([file[0]])
    first = gguf.dequantise(file[0], tmp_path / "kept", digest, "a licence")
    assert capsys.readouterr().err == "a licence\n"
    with monkeypatch.context() as patch:
        patch.setattr(gguf, "_convert", lambda *given: pytest.fail("made again"))
        assert gguf.dequantise(file[0], tmp_path / "kept", digest, "a licence") == first
    assert capsys.readouterr().err == ""
    card = json.loads((first / "gguf.json").read_text())
    (first / "gguf.json").write_text(json.dumps(card | {"versions": {"gguf": "0.0"}}))
    gguf.dequantise(file[0], tmp_path / "kept", digest)
    assert json.loads((first / "gguf.json").read_text()) == card  # made again, with the same card
    with (first / "config.json").open("a") as stream:
        stream.write("\n")
    with pytest.raises(ModelError, match=r"changed since it was made from made.gguf; remove the folder"):
        gguf.dequantise(file[0], tmp_path / "kept", digest)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_missing_and_unsupported_gguf_files_are_refused(tmp_path: Path, file: tuple[Path, Any]) -> None:
    with pytest.raises(ModelError, match=r"absent.gguf: no such file; give a GGUF file"):
        resolve(tmp_path, str(tmp_path / "absent.gguf"))
    (tmp_path / "words.gguf").write_text("these are words and no weights of any model\n" * 9)
    with pytest.raises(ModelError, match=r"words.gguf: not a GGUF file, or cut short"):
        resolve(tmp_path, str(tmp_path / "words.gguf"))
    (tmp_path / "short.gguf").write_bytes(file[0].read_bytes()[:-40_000])
    with pytest.raises(ModelError, match=r"short.gguf: not a GGUF file, or cut short"):
        resolve(tmp_path, str(tmp_path / "short.gguf"))
    gguf_made.made(tmp_path / "other.gguf", architecture="perceptron")
    with pytest.raises(ModelError, match=r"other.gguf: GGUF model with architecture perceptron is not supported"):
        resolve(tmp_path, str(tmp_path / "other.gguf"))


@pytest.mark.parametrize("name", sorted(pretrained.PACKAGES))
def test_missing_package_error_names_the_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def absent(distribution: str) -> None:
        raise importlib.metadata.PackageNotFoundError(distribution)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    with pytest.raises(MissingDependency, match=f"is not installed .needed for {name}.; run: .*-m pip install"):
        resolve(tmp_path, name)


def test_pieces_of_a_packaged_model_are_joined_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: tuple[Path, Any]
) -> None:
    content = file[0].read_bytes()
    for number, piece in enumerate((content[:5000], content[5000:])):
        (tmp_path / f"part{number}").write_bytes(piece)

    class Carrier:
        def locate_file(self, path: str) -> Path:
            return tmp_path / path

    real_distribution = importlib.metadata.distribution
    package = pretrained.PackagedModel(
        file="whole.gguf",
        parts=(("a", "part0"), ("b", "part1")),
        sha256=pretrained._hash_of_files([file[0]]),
        licence="Terms",
        install="python -m pip install it",
    )
    monkeypatch.setattr(
        importlib.metadata, "distribution", lambda name: Carrier() if name in ("a", "b") else real_distribution(name)
    )
    monkeypatch.setitem(pretrained.PACKAGES, "made-model", package)
    resolved = Path(resolve(tmp_path, "made-model"))
    assert resolved == tmp_path / "out/pretrained/made-model"
    assert [path.name for path in resolved.parent.iterdir()] == ["made-model"]  # the joined file is not kept
    assert load(ModelSource(str(resolved), device="cpu")).facts["gguf"]["name"] == "whole.gguf"
    (tmp_path / "part1").write_bytes(content[5000:-1] + b"x")
    with pytest.raises(ModelError, match=r"whole.gguf has the hash .* install the package again: python -m pip"):
        resolve(tmp_path, "made-model")


def test_gguf_file_can_be_given_on_the_command_line(project: Path, file: tuple[Path, Any]) -> None:
    from keyquery.measure.subject import open_subject

    subject = open_subject(project, ModelSource(str(file[0]), device="cpu"))
    assert subject.name.startswith("made-")
    assert not subject.has_bos
    assert subject.positional == "rope"


def test_gguf_conversion_prints_nothing(tmp_path: Path, file: tuple[Path, Any]) -> None:
    code = (
        "import sys, pathlib; from keyquery.models.checkpoints import builtin; "
        "builtin.resolve(pathlib.Path(sys.argv[1]), sys.argv[2])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(file[0])], capture_output=True, text=True, check=True
    )
    assert result.stderr == result.stdout == ""
