"""Load models from GGUF files: dequantise them once into an ordinary model folder, and record the origin."""

import io
import json
import os
import shutil
import sys
from collections import Counter
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import ModelError
from boundpaper.store.cached_files import broken, with_hash
from boundpaper.store.files import temporary
from boundpaper.store.json_text import parsed
from boundpaper.typeset.plural import counted
from keyquery.models import libraries
from keyquery.models.checkpoints import gguf_keys
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.reasons import explain_failure

CARD = "gguf.json"
LIBRARIES = ("gguf", "torch", "transformers")
CHECK = "1"  # version of the checks: folders made with another version are made again


def dequantise(file: Path, folder: Path, sha256: str, say: str = "") -> Path:
    """Return the folder with a GGUF file's float32 weights, configuration and tokenizer; create it on first use.

    float32 represents the file's values exactly, so forward passes are unchanged. An existing folder is reused if it
    was made from a file with this hash by these library versions, and has not changed since. `folder` is the folder
    to create, `sha256` the file's hash. `say` is printed on standard error before the conversion. Raises ModelError
    if the file is not a GGUF file, is truncated, has an architecture that transformers does not read, or has a key or
    tensor that model and tokenizer would ignore; the message names it. Raises MissingDependency when torch,
    transformers or gguf are absent.
    """
    if is_current(folder, sha256):
        if fingerprint(folder) == gguf_card(folder)["weights"]:
            return folder
        raise ModelError(f"{folder}: changed since it was made from {file.name}; remove the folder, and run again")
    description, header = _describe_file(file)
    if say:
        print(say, file=sys.stderr)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary(folder.parent) as draft:
        _convert(file, draft, header)
        content = {
            "file": {"name": file.name, "bytes": file.stat().st_size, "sha256": sha256},
            **description,
            "weights": fingerprint(draft),
            "versions": _library_versions(),
        }
        (draft / CARD).write_text(json.dumps(with_hash(content), indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another process was faster; use its folder
            os.rename(draft, folder)
    return folder


def is_current(folder: Path, sha256: str) -> bool:
    """Return whether a folder was made from a file with this hash by the installed library versions."""
    card = gguf_card(folder)
    return bool(card) and card["file"]["sha256"] == sha256 and card["versions"] == _library_versions()


@dataclass(frozen=True)
class _GgufHeader:
    """Header of a file: keys, number of values per tensor, and divisors of the rotation's frequencies."""

    keys: dict[str, Any]
    sizes: dict[str, int]
    frequencies: list[float] | None


def _library_versions() -> dict[str, str | None]:
    return {**{name: libraries.version(name) for name in LIBRARIES}, "check": CHECK}


def gguf_card(folder: Path) -> dict[str, Any]:
    """Return the record that `dequantise` wrote beside the weights; empty if it is missing or was changed."""
    try:
        content = parsed((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and not broken(content) else {}


def gguf_origin(folder: Path) -> dict[str, Any] | None:
    """Return the GGUF file's name, hash and quantisation for a model's manifest; None for other models."""
    card = gguf_card(folder)
    return {**card["file"], "quantization": card["quantization"], "tensors": card["tensors"]} if card else None


def _describe_file(file: Path) -> tuple[dict[str, Any], _GgufHeader]:
    """Return the quantisation according to the header, tensors by type, and the header to compare with the model."""
    gguf = libraries.need("gguf", "to read GGUF files")
    try:
        reader = gguf.GGUFReader(file)
        keys = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
        factors = [field.data.astype(float).tolist() for field in reader.tensors if field.name == "rope_freqs.weight"]
    except FileNotFoundError:
        raise ModelError(f"{file}: no such file") from None
    except (ValueError, IndexError, OSError, EOFError) as error:
        raise ModelError(f"{file}: not a GGUF file, or cut short ({error}); get it again") from None
    try:
        name = gguf.LlamaFileType(int(keys["general.file_type"])).name.removeprefix("MOSTLY_")
    except (KeyError, TypeError, ValueError):
        name = None
    types = Counter(tensor.tensor_type.name for tensor in reader.tensors)
    sizes = {tensor.name: int(tensor.n_elements) for tensor in reader.tensors}
    described = {"quantization": name, "tensors": dict(sorted(types.items()))}
    return described, _GgufHeader(keys, sizes, factors[0] if factors else None)


def _convert(file: Path, folder: Path, content: _GgufHeader) -> None:
    """Let transformers read the file, compare the result with the file, and save it as an ordinary model."""
    torch, transformers = libraries.torch, libraries.transformers
    transformers.utils.logging.disable_progress_bar()
    with explain_failure(str(file)), redirect_stderr(io.StringIO()):  # the conversion's bar ignores settings
        place, options = str(file.parent), {"gguf_file": file.name}
        auto_class: Any = transformers.AutoModelForCausalLM
        model, report = auto_class.from_pretrained(place, dtype=torch.float32, output_loading_info=True, **options)
        absent = sorted(report.get("missing_keys") or ())
        if absent:
            raise ModelError(f"{file}: lacks {counted(len(absent), 'weight')} of its architecture (first: {absent[0]})")
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
        try:
            gguf_keys.apply_keys(content.keys, content.frequencies, model.config)
            parameters = sum(parameter.numel() for parameter in model.parameters())  # shared ones once
            gguf_keys.refuse_unused_tensors(content.sizes, _known_tensors(model, content), parameters)
            notes = gguf_keys.tokenizer_notes(content.keys, tokenizer)
        except ModelError as error:
            raise ModelError(f"{file}: {error}") from None
        # A model read from GGUF counts as quantised and cannot be saved; its weights are plain float32 by now.
        model.hf_quantizer, model.is_quantized = None, False
        for name in ("quantization_config", "_model_name_or_path"):
            if name in vars(model.config):
                delattr(model.config, name)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # The name inside the file is not the name of a transformers model.
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config.pop("_model_name_or_path", None)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for note in notes:
        print(f"{file.name}: {note}", file=sys.stderr)


def _known_tensors(model: Any, content: _GgufHeader) -> set[str]:
    """Return the names of the tensors that transformers converts to weights."""
    conversion = libraries.need("transformers.modeling_gguf_pytorch_utils")
    architecture = str(content.keys.get("general.architecture"))
    if architecture in libraries.need("transformers.integrations.gguf").GGUF_ARCHS:
        return set(content.sizes)  # converted by special rules; their values are counted as well
    make = conversion.TENSOR_PROCESSORS.get(architecture, conversion.TensorProcessor)
    names = set(conversion.get_gguf_hf_weights_map(model, make(config={})))
    return names | ({"output.weight"} if model.get_output_embeddings() is not None else set())
