"""Load models from GGUF files: dequantise a file once into an ordinary model folder, and record the file there."""

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
from boundpaper.store.cached_files import hash_fault, with_hash
from boundpaper.store.files import temporary
from boundpaper.store.json_text import parsed
from boundpaper.typeset.plural import counted
from keyquery.models import libraries
from keyquery.models.checkpoints import gguf_keys
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.reasons import explain_failure

CARD = "gguf.json"
LIBRARIES = ("gguf", "torch", "transformers")
CHECK = "1"  # version of this module's checks; folders made with another version are made again


def dequantise(file: Path, folder: Path, sha256: str, message: str = "") -> Path:
    """Return `folder` with a GGUF file's weights as float32, configuration and tokenizer; create it on first use.

    float32 represents the file's values exactly, so forward passes are unchanged. An existing folder is reused if it
    was made from a file with the hash `sha256` by the installed library versions; it must not have changed since then.
    `message` is printed on standard error before the conversion. Raises ModelError if the folder has changed, or if the
    file is not a GGUF file, is truncated, has an architecture that transformers does not read, or has a key or tensor
    that model and tokenizer would ignore; the error names it. Raises MissingDependency when torch, transformers or gguf
    are absent.
    """
    if is_current(folder, sha256):
        if fingerprint(folder) == gguf_card(folder)["weights"]:
            return folder
        raise ModelError(f"{folder}: changed since it was made from {file.name}; remove the folder, and run again")
    description, header = _describe_file(file)
    if message:
        print(message, file=sys.stderr)
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
    """Header of a file: keys with values, numbers of values by tensor, and divisors of the rotation's frequencies."""

    keys: dict[str, Any]
    sizes: dict[str, int]
    frequency_factors: list[float] | None


def _library_versions() -> dict[str, str | None]:
    return {**{name: libraries.version(name) for name in LIBRARIES}, "check": CHECK}


def gguf_card(folder: Path) -> dict[str, Any]:
    """Return the record that `dequantise` wrote beside the weights; empty if it is missing or was changed."""
    try:
        content = parsed((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and not hash_fault(content) else {}


def gguf_origin(folder: Path) -> dict[str, Any] | None:
    """Return the GGUF file's name, hash and quantisation for a model's manifest; None if the model has no GGUF file."""
    card = gguf_card(folder)
    return {**card["file"], "quantization": card["quantization"], "tensors": card["tensors"]} if card else None


def _describe_file(file: Path) -> tuple[dict[str, Any], _GgufHeader]:
    """Return facts for the card (the quantisation, and the number of tensors of each type), and the file's header."""
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
        quantization = gguf.LlamaFileType(int(keys["general.file_type"])).name.removeprefix("MOSTLY_")
    except (KeyError, TypeError, ValueError):
        quantization = None
    types = Counter(tensor.tensor_type.name for tensor in reader.tensors)
    sizes = {tensor.name: int(tensor.n_elements) for tensor in reader.tensors}
    facts = {"quantization": quantization, "tensors": dict(sorted(types.items()))}
    return facts, _GgufHeader(keys, sizes, factors[0] if factors else None)


def _convert(file: Path, folder: Path, header: _GgufHeader) -> None:
    """Let transformers read the file, compare the model with the file's header, and save it as an ordinary model."""
    torch, transformers = libraries.torch, libraries.transformers
    transformers.utils.logging.disable_progress_bar()
    with explain_failure(str(file)), redirect_stderr(io.StringIO()):  # the conversion's bar ignores settings
        source, options = str(file.parent), {"gguf_file": file.name}
        auto_class: Any = transformers.AutoModelForCausalLM
        model, report = auto_class.from_pretrained(source, dtype=torch.float32, output_loading_info=True, **options)
        missing = sorted(report.get("missing_keys") or ())
        if missing:
            weights = counted(len(missing), "weight")
            raise ModelError(f"{file}: lacks {weights} of its architecture (first: {missing[0]}); get it again")
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
        try:
            gguf_keys.apply_keys(header.keys, header.frequency_factors, model.config)
            parameters = sum(parameter.numel() for parameter in model.parameters())  # shared parameters count once
            gguf_keys.refuse_unused_tensors(header.sizes, _known_tensors(model, header), parameters)
            notes = gguf_keys.tokenizer_notes(header.keys, tokenizer)
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


def _known_tensors(model: Any, header: _GgufHeader) -> set[str]:
    """Return the names of the tensors that transformers converts to weights."""
    conversion = libraries.need("transformers.modeling_gguf_pytorch_utils")
    architecture = str(header.keys.get("general.architecture"))
    if architecture in libraries.need("transformers.integrations.gguf").GGUF_ARCHS:
        return set(header.sizes)  # special rules convert them; the numbers of their values are compared
    processor_class = conversion.TENSOR_PROCESSORS.get(architecture, conversion.TensorProcessor)
    names = set(conversion.get_gguf_hf_weights_map(model, processor_class(config={})))
    return names | ({"output.weight"} if model.get_output_embeddings() is not None else set())
