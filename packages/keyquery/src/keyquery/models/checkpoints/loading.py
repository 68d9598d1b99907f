"""Load a model and its tokenizer from a local folder or the Hub's cache, in an explicit precision."""

from __future__ import annotations

import functools
import logging
import re
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from boundpaper.store.json_text import DoubledKeyError, parsed
from boundpaper.typeset.plural import counted
from keyquery.models import libraries
from keyquery.models.architecture import check_order
from keyquery.models.attention.encodings import configured, encoding_name
from keyquery.models.attention.positions import check_position_blind
from keyquery.models.attention.reach import refuse_longer
from keyquery.models.checkpoints import checkpoint, gguf, streaming
from keyquery.models.checkpoints.beginning import add_bos
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.reasons import explain_failure
from keyquery.models.undefined import check_weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
CAST_LOGGER = "bitsandbytes.autograd._functions"  # warns about casts in every matrix product
FILE_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")  # tokenizers that do what tokenizer.json says
HUB_SECONDS = 5  # time limit for an answer of the Hub
REPORT_LOGGERS = ("transformers.modeling_utils", "transformers.utils.loading_report", "accelerate.big_modeling")
_said: set[str] = set()  # texts of log records
QUANTIZATIONS = ("nf4", "fp4", "int8")
AS_CONFIGURED = "as configured"
POSITIONS = (AS_CONFIGURED, "rope", "drope")
CHANGES_SCORES = re.compile(r"(^|[._])(q|k|query|key)_?(layer)?norm([._]|$)|(^|[._])sinks$")


@dataclass(frozen=True)
class ModelSource:
    """Which model to load, and in which precision.

    Parameters
    ----------
    name : str
        A local folder or a Hub id.
    revision : str or None
        A branch, tag or commit of a Hub id.
    dtype : {"auto", "bf16", "fp16", "fp32"}
        Number type of weights and activations; "auto" is the checkpoint's type.
    quantize : {"nf4", "fp4", "int8"} or None
        Quantization of weights by bitsandbytes.
    double : bool
        Whether to quantize the scales of 4-bit weights as well.
    device : str
        "auto" (the GPUs, or else the CPU), "cpu", "cuda", "cuda:1" or "mps".
    trust_remote_code : bool
        Whether to run code that comes with the checkpoint.
    position : {"as configured", "rope", "drope"}
        Position encoding; "rope" and "drope" override config.json, and "drope" is tested after loading.
    load_as : str or None
        A model type of transformers, such as "llama", for a checkpoint of a custom class. The standard class gets the
        checkpoint's settings, and the custom code is not run. `position` must be given, since the custom class may
        encode positions in another way.
    scaling : float or None
        The factor on q.k, for a checkpoint with a factor that the class would ignore.
    bos : bool
        Whether to add a beginning token to every text; the tokenizer must have one and not add it already.
    """

    name: str
    revision: str | None = None
    dtype: str = "auto"
    quantize: str | None = None
    double: bool = False
    device: str = "auto"
    trust_remote_code: bool = False
    position: str = AS_CONFIGURED
    load_as: str | None = None
    scaling: float | None = None
    bos: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in ("auto", *DTYPES):
            raise ModelError(f"dtype {self.dtype!r} is unknown; give one of auto, {', '.join(DTYPES)}")
        if self.quantize is not None and self.quantize not in QUANTIZATIONS:
            raise ModelError(f"quantization {self.quantize!r} is unknown; give one of {', '.join(QUANTIZATIONS)}")
        if self.position not in POSITIONS:
            raise ModelError(f"position {self.position!r} is unknown; give one of {', '.join(POSITIONS)}")
        if self.load_as is not None and self.trust_remote_code:
            raise ModelError("give load_as or --trust-remote-code, not both")
        if self.load_as is not None and self.position == AS_CONFIGURED:
            raise ModelError(
                f"load_as {self.load_as}: the custom class may encode positions differently; say how (position "
                "rope or drope)"
            )


@dataclass(frozen=True)
class LoadedModel:
    """A model in evaluation mode, its tokenizer (None if missing), and facts for a manifest."""

    model: PreTrainedModel
    tokenizer: Any
    facts: dict[str, Any] = field(default_factory=dict)


def load(source: ModelSource, *, tokenizer: bool = True, stream: bool = False) -> LoadedModel:
    """Load a model from safetensors files, and check it.

    With `tokenizer`, its tokenizer is loaded as well. With `stream`, the weights of blocks stay on disk (see the module
    `streaming`). Raises ModelError if the model is missing, gated, unreachable or of an unknown architecture, lacks
    weights, has weights that change attention but would be ignored, contains NaN or infinity, or attends to later
    tokens. Raises MissingDependency when torch, transformers or, for quantization, bitsandbytes or accelerate is
    absent.
    """
    torch, transformers = libraries.torch, libraries.transformers
    transformers.utils.logging.disable_progress_bar()  # it would disturb the command's own bar
    device = chosen_device(source.device)
    options: dict[str, Any] = {"trust_remote_code": source.trust_remote_code, **hub_options(source)}
    with explain_failure(source.name, source.revision), ExitStack() as stack:
        config = configuration(source)
        options |= {"dtype": getattr(torch, DTYPES[source.dtype]) if source.dtype != "auto" else "auto"}
        if source.quantize is not None:
            libraries.need("accelerate", "for quantization")
            options["quantization_config"] = _quantization_config(source)
        if source.quantize is not None or device == "cuda":
            libraries.need("accelerate", "to place a model on the GPU")
            options["device_map"] = "auto" if source.device in ("auto", "cuda") and device == "cuda" else {"": device}
        if stream:
            if source.quantize is not None:
                raise ModelError(f"--stream reads weights as they are; leave --quantize {source.quantize} out")
            with torch.device("meta"):
                trust_options = {"trust_remote_code": True} if source.trust_remote_code else {}
                empty_model = model_class(config, source.trust_remote_code).from_config(config, **trust_options)
            options["device_map"] = streaming.device_map(empty_model, device)
            stack.enter_context(streaming.stream_weights(source.name))
        for logger in REPORT_LOGGERS:
            logging.getLogger(logger).addFilter(_is_no_report)
        model, report = model_class(config, source.trust_remote_code).from_pretrained(
            source.name,
            config=config,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # `_require_all` raises an error with the weight's name
            output_loading_info=True,
            **options,
        )
        _require_all(source, report)
    loaded_tokenizer = load_tokenizer(source, config if source.load_as is not None else None) if tokenizer else None
    model.eval()
    if source.scaling is not None:
        checkpoint.rescale_attention(model, source.scaling)
    if "device_map" not in options and device != "cpu":
        model.to(device)
    check_weights(model, source.name)
    check_order(model)
    refuse_longer(model)
    if source.position == "drope":
        check_position_blind(model)
    return LoadedModel(model, loaded_tokenizer, model_facts(model, source))


def load_tokenizer(source: ModelSource, config: Any = None) -> Any:
    """Load a model's tokenizer without the model; with `source.bos`, it adds a beginning token.

    `config` is the configuration that `load_as` gives; if None, it is read from the source. Raises ModelError if the
    tokenizer cannot be loaded.
    """
    transformers = libraries.transformers
    if config is None and source.load_as is not None:
        config = configuration(source)
    options = {} if config is None else {"config": config}
    check_keys(source.name)
    with explain_failure(source.name, source.revision):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source.name, trust_remote_code=source.trust_remote_code, **hub_options(source), **options
        )
        module = libraries.need("transformers.models.auto.tokenization_auto")
        class_name = module.get_tokenizer_config(source.name, **hub_options(source)).get("tokenizer_class")
        if class_name in FILE_CLASSES and type(tokenizer).__name__ not in FILE_CLASSES:
            # for some model types (Qwen2), the library ignores the class and splits texts differently from the file
            tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(source.name, **hub_options(source))
        if source.bos:
            add_bos(tokenizer, source.name)
    try:
        tokenizer("a", verbose=False)
    except Exception as error:  # a setting of the wrong type fails only at the first text
        message = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise ModelError(
            f"{source.name}: its tokenizer cannot read a text ({message}); "
            "a setting of tokenizer_config.json has the wrong type for the class, such as text for a number"
        ) from error
    return tokenizer


def hub_options(source: ModelSource) -> dict[str, Any]:
    """Return options for loading from the Hub: the revision, and cache-only mode if the Hub is unreachable."""
    offline = not Path(source.name).is_dir() and not _hub_is_reachable()
    return {"revision": source.revision, **({"local_files_only": True} if offline else {})}


@functools.cache
def _hub_is_reachable() -> bool:
    """Return whether the Hub answers in a few seconds; it is asked only once, since its library retries for minutes."""
    hub = libraries.need("huggingface_hub", "to load models")
    if hub.constants.HF_HUB_OFFLINE:
        return False
    try:
        hub.get_session().head(hub.constants.ENDPOINT, timeout=HUB_SECONDS)
    except Exception:  # any error of the HTTP library means that there is no answer
        return False
    return True


def configuration(source: ModelSource) -> Any:
    """Return a source's configuration: that of config.json, with the source's `load_as` and `position` applied.

    Raises ModelError if config.json cannot be read, or has settings that change attention but would be ignored.
    """
    transformers = libraries.transformers
    check_keys(source.name)
    with explain_failure(source.name, source.revision):
        if source.load_as is None:
            config = transformers.AutoConfig.from_pretrained(
                source.name, trust_remote_code=source.trust_remote_code, **hub_options(source)
            )
        raw, _ = transformers.PreTrainedConfig.get_config_dict(source.name, **hub_options(source))
        if source.load_as is not None:
            config = checkpoint.as_class(raw, source.load_as, source.name)
        if not source.trust_remote_code:
            if source.load_as is None:
                checkpoint.refuse_replaced_code(raw, source.name)
            placed = source.position != AS_CONFIGURED
            checkpoint.refuse_ignored(raw, config, source.name, scaled=source.scaling is not None, placed=placed)
        return config if source.position == AS_CONFIGURED else configured(config, source.position)


def check_keys(folder: str) -> None:
    """Raise ModelError if a JSON file in a model's folder has a key twice, since libraries silently use the last value.

    The error names the file and the key; `folder` may also be a Hub id, which is not checked.
    """
    for path in sorted(Path(folder).glob("*.json")) if Path(folder).is_dir() else ():
        try:
            parsed(path.read_text(encoding="utf-8"))
        except DoubledKeyError as error:
            raise ModelError(f"{path}: {error}; keep one of them") from None
        except (OSError, ValueError, RecursionError):
            continue  # the library reports this when it reads the file


def _is_no_report(record: logging.LogRecord) -> bool:
    """Return whether to show a log record.

    Not shown are the library's table of weights, since `_require_all` reports what matters, and warnings about weights
    "on the meta device", where `--stream` and `device_map` leave them on purpose.
    """
    return not any(phrase in record.getMessage() for phrase in ("LOAD REPORT", "on the meta device"))


def is_first_with_text(record: logging.LogRecord) -> bool:
    """Return whether a log record is the first record with its text."""
    text = record.getMessage()
    new = text not in _said
    _said.add(text)
    return new


def model_class(config: Any, trust_remote_code: bool = False) -> Any:
    """Return the automatic class of transformers for a configuration: for causal or for image-text models."""
    transformers = libraries.transformers
    causal = type(config) in transformers.AutoModelForCausalLM._model_mapping or trust_remote_code
    return transformers.AutoModelForCausalLM if causal else transformers.AutoModelForImageTextToText


def model_facts(model: PreTrainedModel, source: ModelSource) -> dict[str, Any]:
    """Return facts of a loaded model for a manifest: its identity, architecture, precision and library versions."""
    folder = Path(source.name)
    quantization: dict[str, Any] | None = None
    if source.quantize is not None:
        quantization = {"library": "bitsandbytes", "type": source.quantize}
        if source.quantize != "int8":
            quantization |= {"double": source.double, "compute": str(model.dtype).removeprefix("torch.")}
    options: dict[str, Any] = {"load_as": source.load_as, "scaling": source.scaling, "gguf": gguf.gguf_origin(folder)}
    options["bos"] = source.bos or None
    if source.position != AS_CONFIGURED:
        options |= {"position": source.position, "encoding": encoding_name(model.config)}
    return {
        "model": shown_model(source.name),
        "revision": getattr(model.config, "_commit_hash", None) or source.revision,
        "fingerprint": fingerprint(folder) if folder.is_dir() else None,
        "architecture": type(model).__name__,
        "model_type": model.config.model_type,
        "dtype": str(model.dtype).removeprefix("torch."),
        "quantization": quantization,
        "attention": model.config.get_text_config()._attn_implementation,
        "versions": {
            name: libraries.version(name)
            for name in ("torch", "transformers", *(("bitsandbytes",) if source.quantize else ()))
        },
        **{key: value for key, value in options.items() if value is not None},
    }


def shown_model(name: str) -> str:
    """Return a model's name for publication: the name of a folder without its path, or a Hub id as it is."""
    path = Path(name)
    return path.resolve().name if path.is_dir() or path.is_absolute() else name


def chosen_device(device: str) -> str:
    """Return the device, with "auto" replaced by "cuda" or "cpu"; raise ModelError if torch has no such device."""
    torch = libraries.torch
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind = device.split(":")[0]
    if kind == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"device {device}: this machine has no GPU that torch can use; give --device cpu")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ModelError("device mps: not available on this machine; give --device cpu")
    if kind not in ("cuda", "mps", "cpu"):
        raise ModelError(f"device {device!r} is unknown; it is auto, cpu, cuda, cuda:N or mps")
    return device


def _quantization_config(source: ModelSource) -> Any:
    torch, transformers = libraries.torch, libraries.transformers
    libraries.need("bitsandbytes", f"for --quantize {source.quantize}")
    logging.getLogger(CAST_LOGGER).addFilter(is_first_with_text)
    if source.quantize == "int8":
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=source.quantize,
        bnb_4bit_use_double_quant=source.double,
        bnb_4bit_compute_dtype=getattr(torch, DTYPES.get(source.dtype, "bfloat16")),
    )


def _require_all(source: ModelSource, report: dict[str, Any]) -> None:
    """Raise ModelError if weights are missing, have another shape than the configuration says, or are wrongly ignored.

    Weights that may be ignored, such as those of an image tower, are reported on standard error.
    """
    missing = sorted(report.get("missing_keys") or ())
    if missing:
        raise ModelError(
            f"{source.name}: the checkpoint lacks {counted(len(missing), 'weight')} of its architecture "
            f"(first: {missing[0]}); they would be random; download it again"
        )
    mismatched = sorted(map(str, report.get("mismatched_keys") or ()))
    if mismatched:
        raise ModelError(
            f"{source.name}: weights do not fit the configuration (first: {mismatched[0]}); "
            "config.json and the weights belong to different models"
        )
    # A text model may ignore the weights of an image tower; a standard class may ignore no weight of a custom class.
    strict = source.load_as is not None
    unexpected = sorted(key for key in report.get("unexpected_keys") or () if "inv_freq" not in key)
    ignored = [key for key in unexpected if strict or (CHANGES_SCORES.search(key) and "vis" not in key)]
    if ignored and strict:
        raise ModelError(
            f"{source.name}: the checkpoint has weights that {source.load_as} would ignore (first: {ignored[0]}); "
            "the custom class computes more than the standard class; give --trust-remote-code instead of load_as"
        )
    if ignored:
        raise ModelError(
            f"{source.name}: the checkpoint holds weights that its architecture would ignore although they change "
            f"attention (first: {ignored[0]}); its model_type in config.json differs from the trained architecture"
        )
    if unexpected:
        fault = f"weights that are none of the architecture's are left out: {len(unexpected)}"
        print(f"{source.name}: {fault} (first: {unexpected[0]})", file=sys.stderr)
