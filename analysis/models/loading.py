"""Loading a model and its tokenizer, from a local folder or the Hub's cache, with the precision spelled out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.models.libraries import need, version
from artifacts.errors import MissingDependency, ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
QUANTIZATIONS = ("nf4", "fp4", "int8")
EDGE = 1 << 20  # bytes at both ends of a weight file that its fingerprint covers
CHANGES_SCORES = re.compile(r"(^|[._])(q|k|query|key)_?(layer)?norm([._]|$)|(^|[._])sinks$")


@dataclass(frozen=True)
class ModelSource:
    """Which model, and in which precision.

    Parameters
    ----------
    name : str
        A local folder or a Hub id.
    revision : str or None
        A branch, tag or commit of a Hub id.
    dtype : {"auto", "bf16", "fp16", "fp32"}
        Of weights and activations; "auto" is the checkpoint's own.
    quantize : {"nf4", "fp4", "int8"} or None
        Weights through bitsandbytes.
    double : bool
        Quantize the scales of 4-bit weights as well.
    device : str
        "auto" (the GPUs, else the CPU), "cpu", "cuda", "cuda:1", "mps".
    trust_remote_code : bool
        Run code that comes with the checkpoint.
    """

    name: str
    revision: str | None = None
    dtype: str = "auto"
    quantize: str | None = None
    double: bool = False
    device: str = "auto"
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in ("auto", *DTYPES):
            raise ModelError(f"dtype {self.dtype!r} is unknown; it is one of auto, {', '.join(DTYPES)}")
        if self.quantize is not None and self.quantize not in QUANTIZATIONS:
            raise ModelError(f"quantization {self.quantize!r} is unknown; it is one of {', '.join(QUANTIZATIONS)}")


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode, its tokenizer (None when it has none), and facts for a manifest."""

    model: PreTrainedModel
    tokenizer: Any
    facts: dict[str, Any] = field(default_factory=dict)


def load(source: ModelSource, *, tokenizer: bool = True) -> Loaded:
    """Load a model; weights come from safetensors only.

    Raises
    ------
    ModelError
        When the model is missing, gated, out of reach, of an unknown architecture, lacks weights, or holds weights
        that the architecture would ignore although they change attention.
    MissingDependency
        When torch, transformers or, for quantization, bitsandbytes and accelerate are absent.
    """
    torch, transformers = need("torch", "to load models"), need("transformers", "to load models")
    transformers.utils.logging.disable_progress_bar()  # ours would be torn by it
    device = _device(source.device)
    options: dict[str, Any] = {"revision": source.revision, "trust_remote_code": source.trust_remote_code}
    with _explained(source):
        config = transformers.AutoConfig.from_pretrained(source.name, **options)
        causal = type(config) in transformers.AutoModelForCausalLM._model_mapping or source.trust_remote_code
        factory = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForImageTextToText
        options |= {"dtype": getattr(torch, DTYPES[source.dtype]) if source.dtype != "auto" else "auto"}
        if source.quantize is not None:
            need("accelerate", "for quantization")
            options["quantization_config"] = _quantization(source)
        if source.quantize is not None or device == "cuda":
            need("accelerate", "to place a model on the GPU")
            options["device_map"] = "auto" if source.device in ("auto", "cuda") and device == "cuda" else {"": device}
        model, report = factory.from_pretrained(
            source.name,
            config=config,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # reported, and refused below with the weight's name
            output_loading_info=True,
            **options,
        )
        _complete(source, report)
        words = None
        if tokenizer:
            words = transformers.AutoTokenizer.from_pretrained(
                source.name, revision=source.revision, trust_remote_code=source.trust_remote_code
            )
    model.eval()
    if "device_map" not in options and device != "cpu":
        model.to(device)
    return Loaded(model, words, facts(model, source))


def facts(model: PreTrainedModel, source: ModelSource) -> dict[str, Any]:
    """What a manifest says of a loaded model: identity, architecture, precision and versions."""
    folder = Path(source.name)
    quantization: dict[str, Any] | None = None
    if source.quantize is not None:
        quantization = {"library": "bitsandbytes", "type": source.quantize}
        if source.quantize != "int8":
            quantization |= {"double": source.double, "compute": str(model.dtype).removeprefix("torch.")}
    return {
        "model": source.name,
        "revision": getattr(model.config, "_commit_hash", None) or source.revision,
        "fingerprint": fingerprint(folder) if folder.is_dir() else None,
        "architecture": type(model).__name__,
        "model_type": model.config.model_type,
        "dtype": str(model.dtype).removeprefix("torch."),
        "quantization": quantization,
        "attention": model.config.get_text_config()._attn_implementation,
        "versions": {
            name: version(name) for name in ("torch", "transformers", *(("bitsandbytes",) if source.quantize else ()))
        },
    }


def fingerprint(folder: Path) -> str:
    """A hash of a local model: its configuration, and the name, size and both ends (1 MiB each) of its weight files."""
    state = hashlib.blake2b(digest_size=16)
    state.update((folder / "config.json").read_bytes())
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        state.update(f"{path.name} {size}".encode())
        with path.open("rb") as stream:
            state.update(stream.read(EDGE))
            stream.seek(max(0, size - EDGE))
            state.update(stream.read(EDGE))
    return state.hexdigest()


def _device(asked: str) -> str:
    torch = need("torch")
    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind = asked.split(":")[0]
    if kind == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"device {asked}: this machine has no GPU that torch can use; give --device cpu")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ModelError("device mps: not available on this machine; give --device cpu")
    if kind not in ("cuda", "mps", "cpu"):
        raise ModelError(f"device {asked!r} is unknown; it is auto, cpu, cuda, cuda:N or mps")
    return asked


def _quantization(source: ModelSource) -> Any:
    torch, transformers = need("torch"), need("transformers")
    need("bitsandbytes", f"for --quantize {source.quantize}")
    if source.quantize == "int8":
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=source.quantize,
        bnb_4bit_use_double_quant=source.double,
        bnb_4bit_compute_dtype=getattr(torch, DTYPES.get(source.dtype, "bfloat16")),
    )


def _complete(source: ModelSource, report: dict[str, Any]) -> None:
    """Refuse weights that are absent (they would be random), misshapen, or ignored although they change scores."""
    missing = sorted(report.get("missing_keys") or ())
    if missing:
        raise ModelError(
            f"{source.name}: the checkpoint lacks {len(missing)} weights of its architecture (first: {missing[0]}); "
            "they would be random; download it again"
        )
    misfits = sorted(map(str, report.get("mismatched_keys") or ()))
    if misfits:
        raise ModelError(
            f"{source.name}: weights do not fit the configuration (first: {misfits[0]}); "
            "config.json and the weights belong to different models"
        )
    ignored = sorted(
        key
        for key in report.get("unexpected_keys") or ()
        if CHANGES_SCORES.search(key) and "vis" not in key  # text alone leaves image towers out
    )
    if ignored:
        raise ModelError(
            f"{source.name}: the checkpoint holds weights that its architecture would ignore although they change "
            f"attention (first: {ignored[0]}); its model_type in config.json is not what it was trained as"
        )


@contextmanager
def _explained(source: ModelSource) -> Iterator[None]:
    """Turn what the libraries raise into one line that says how to mend it."""
    try:
        yield
    except (ModelError, MissingDependency, KeyboardInterrupt):
        raise
    except Exception as error:
        causes = list(_chain(error))
        if any(isinstance(cause, MemoryError) or "OutOfMemory" in type(cause).__name__ for cause in causes):
            raise ModelError(
                f"{source.name}: its weights do not fit the memory; give --dtype bf16 or --quantize nf4"
            ) from error
        raise ModelError(f"{source.name}: {_reason(source, causes)}") from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _reason(source: ModelSource, causes: list[BaseException]) -> str:
    names = {type(cause).__name__ for cause in causes}
    text = " ".join(str(cause) for cause in causes)
    local = Path(source.name).is_dir()
    if "GatedRepoError" in names or "gated repo" in text:
        return "the model is gated; accept its licence on its Hub page, then run: hf auth login"
    if not local and names & {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectionError", "ConnectError"}:
        return "not in the Hub's cache and the Hub cannot be reached; connect, or give the path of a local folder"
    if not local and (names & {"RepositoryNotFoundError", "HFValidationError"} or "not a valid model id" in text):
        return "neither a local folder nor a model on the Hub (for a private one, run: hf auth login)"
    if "RevisionNotFoundError" in names:
        return f"no revision {source.revision!r}"
    if local and not (Path(source.name) / "config.json").is_file():
        return "the folder holds no config.json; give the folder that a model was saved to"
    if "SafetensorError" in names or ("header" in text.lower() and "safetensors" in text.lower()):
        return "a weight file is damaged or cut short; download it again"
    if "safetensors" in text and ("no file named" in text or "does not appear to have a file named" in text):
        return "no safetensors weights; other formats can run code when loaded, convert them first"
    if "trust_remote_code" in text:
        return "the checkpoint brings its own code; read it, then give --trust-remote-code"
    if "does not recognize this architecture" in text or "Unrecognized model" in text or "Unrecognized config" in text:
        kind = _model_type(source.name)
        return f"transformers {version('transformers')} does not know its architecture{kind}; a newer one may"
    if "okenizer" in text and local:
        return "its tokenizer cannot be loaded; tokenizer.json or its kind must lie in the folder"
    return (str(causes[0]) or type(causes[0]).__name__).strip().splitlines()[0]


def _model_type(folder: str) -> str:
    try:
        kind = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError):
        return ""
    return f" ({kind})" if kind else ""
