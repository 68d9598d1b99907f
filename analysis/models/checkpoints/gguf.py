"""Models in GGUF files: dequantised once into a folder that everything else loads, with what says where from."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

from analysis.models.checkpoints.identity import fingerprint
from analysis.models.checkpoints.reasons import explained
from analysis.models.libraries import need, version
from artifacts.errors import ModelError

CARD = "gguf.json"
LIBRARIES = ("gguf", "torch", "transformers")


def dequantise(file: Path, folder: Path, sha256: str, say: str = "") -> Path:
    """A folder with the float32 weights, configuration and tokenizer of a GGUF file; made where it is not there yet.

    The values are those that the file's blocks stand for: float32 holds them exactly, so a forward of the folder is the
    forward of the file. What is there is taken when it was made from a file of this hash by these versions of the
    libraries, and its own bytes are as they were.

    Parameters
    ----------
    file : Path
        The GGUF file.
    folder : Path
        Where the model is kept.
    sha256 : str
        Of the file.
    say : str
        Printed on standard error before the model is made: once, as it is made once.

    Raises
    ------
    ModelError
        When the file is no GGUF file, is cut short, or is of an architecture that transformers does not read.
    MissingDependency
        When torch, transformers or gguf are absent.
    """
    if current(folder, sha256):
        if fingerprint(folder) == card(folder)["weights"]:
            return folder
        raise ModelError(f"{folder}: changed since it was made from {file.name}; remove the folder, and run again")
    described = _describe(file)
    if say:
        print(say, file=sys.stderr)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-", suffix=".part"))
    try:
        _convert(file, draft)
        content = {
            "file": {"name": file.name, "bytes": file.stat().st_size, "sha256": sha256},
            **described,
            "weights": fingerprint(draft),
            "versions": _versions(),
        }
        (draft / CARD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another process was faster; its folder is as good
            os.rename(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def current(folder: Path, sha256: str) -> bool:
    """Whether a folder was made from a file of this hash by the versions of the libraries that are installed."""
    held = card(folder)
    return bool(held) and held["file"]["sha256"] == sha256 and held["versions"] == _versions()


def _versions() -> dict[str, str | None]:
    return {name: version(name) for name in LIBRARIES}


def card(folder: Path) -> dict[str, Any]:
    """What `dequantise` wrote beside the weights; empty where there is nothing of it."""
    try:
        content = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and {"file", "weights", "versions"} <= content.keys() else {}


def origin(folder: Path) -> dict[str, Any] | None:
    """For a manifest: file, hash and quantisation of a model that was made from a GGUF file, else None."""
    held = card(folder)
    return {**held["file"], "quantization": held["quantization"], "tensors": held["tensors"]} if held else None


def _describe(file: Path) -> dict[str, Any]:
    """The file's kind of quantisation by its header, and its tensors by type."""
    gguf = need("gguf", "to read GGUF files")
    try:
        reader = gguf.GGUFReader(file)
    except FileNotFoundError:
        raise ModelError(f"{file}: no such file") from None
    except (ValueError, IndexError, OSError, EOFError) as error:
        raise ModelError(f"{file}: no GGUF file, or cut short ({error}); get it again") from None
    kind = reader.fields.get("general.file_type")
    try:
        name = gguf.LlamaFileType(int(kind.parts[kind.data[0]][0])).name.removeprefix("MOSTLY_") if kind else None
    except ValueError:
        name = None
    types = Counter(tensor.tensor_type.name for tensor in reader.tensors)
    return {"quantization": name, "tensors": dict(sorted(types.items()))}


def _convert(file: Path, folder: Path) -> None:
    """Let transformers read the file, and save what it read as a plain model."""
    torch, transformers = need("torch", "to load models"), need("transformers", "to load models")
    transformers.utils.logging.disable_progress_bar()
    with explained(str(file)), redirect_stderr(io.StringIO()):  # a bar of the conversion minds no setting
        place, options = str(file.parent), {"gguf_file": file.name}
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            place, dtype=torch.float32, output_loading_info=True, **options
        )
        missing = sorted(report.get("missing_keys") or ())
        if missing:
            raise ModelError(f"{file}: lacks {len(missing)} weights of its architecture (first: {missing[0]})")
        # A model read from GGUF counts as quantised and refuses to be saved; what it holds is plain float32 by now.
        model.hf_quantizer, model.is_quantized = None, False
        for name in ("quantization_config", "_model_name_or_path"):
            if name in vars(model.config):
                delattr(model.config, name)
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(place, **options).save_pretrained(folder)
    # The file's own name of itself is no name of a model of transformers.
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config.pop("_model_name_or_path", None)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
