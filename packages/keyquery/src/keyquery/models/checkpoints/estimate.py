"""Estimate a model's memory from the configuration alone; only config.json is downloaded.

The model is built without storage (torch's meta device) to count its parameters exactly. All numbers are lower bounds
and exclude the libraries' own memory (about half a gigabyte on a GPU). So a model certainly fails if its estimate
exceeds the free memory, and it may fail if the estimate is just below that.
"""

from dataclasses import dataclass
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import Layer
from keyquery.models.attention.encodings import config_of_layer
from keyquery.models.checkpoints.loading import DTYPES, ModelSource, chosen_device, configuration, model_class
from keyquery.models.checkpoints.memory import free_memory, largest_fitting, least
from keyquery.models.checkpoints.reasons import explain_failure
from keyquery.models.checkpoints.streaming import least_held

BLOCK = 64  # number of 4-bit weights that share a float32 scale: half a bit each
OUTER = 256  # number of 8-bit scales that share a float32 under double quantization
GIGA = 1e9


@dataclass(frozen=True)
class MemoryEstimate:
    """Lower bounds on the bytes that a model and a forward pass take.

    Parameters
    ----------
    name : str
        Name of the model.
    parameters : int
        Number of parameters; shared parameters count once.
    weights : int
        Bytes of parameters and buffers, including the scales of quantized weights.
    cache : int
        Bytes of keys and values of `context` tokens in all layers with a cache, for `batch` texts.
    activations : int
        Bytes of a forward pass over `batch` texts of `context` tokens: residual stream, widest layer, logits and, with
        quantization, the largest unpacked weight.
    context, batch : int
        Number of tokens per text, and of texts.
    precision : str
        Number type of the weights, such as "nf4 and bfloat16" or "bfloat16".
    """

    name: str
    parameters: int
    weights: int
    cache: int
    activations: int
    context: int
    batch: int
    precision: str

    @property
    def total(self) -> int:
        """Total number of bytes."""
        return self.weights + self.cache + self.activations

    def line(self, free: int | None = None) -> str:
        """Return the estimate in one line, compared with `free` bytes if given."""
        texts = f"{self.batch} x {self.context:,}" if self.batch > 1 else f"{self.context:,}"
        free_text = "" if free is None else f" of {_bytes_text(free)} free"
        return (
            f"{self.name}: {_count(self.parameters)} parameters; at least {_bytes_text(self.total)}{free_text}: "
            f"weights {_bytes_text(self.weights)} ({self.precision}), key cache {_bytes_text(self.cache)} and "
            f"activations {_bytes_text(self.activations)} for {texts} tokens"
        )


def estimate(
    source: ModelSource, *, context: int, batch: int = 1, logits: int | None = None, stream: bool = False
) -> MemoryEstimate:
    """Return the estimate for a model, of which only config.json is read; other arguments are those of `of_config`.

    Raises ModelError if the configuration cannot be read.
    """
    return of_config(
        configuration(source),
        source.name,
        context=context,
        batch=batch,
        logits=logits,
        dtype=source.dtype,
        quantize=source.quantize,
        double_quantized=source.double,
        trust_remote_code=source.trust_remote_code,
        stream=stream,
    )


def of_config(
    config: Any,
    name: str,
    *,
    context: int,
    batch: int = 1,
    logits: int | None = None,
    dtype: str = "auto",
    quantize: str | None = None,
    double_quantized: bool = False,
    trust_remote_code: bool = False,
    stream: bool = False,
) -> MemoryEstimate:
    """Return the estimate for a configuration.

    `context` is the number of tokens per text, and `batch` the number of texts. `logits` is the number of tokens per
    text (None: all) whose logits are in memory, once in the type of the weights and once in float32. With `stream`, the
    weights of blocks are read from disk one by one. Other arguments are those of `ModelSource`; "auto" as `dtype` is
    the configuration's type. Raises ModelError if `context` or `batch` is below 1.
    """
    if context < 1 or batch < 1:
        raise ModelError(f"memory estimate for {batch} texts of {context} tokens: give 1 or more of both")
    torch = libraries.torch
    kind = getattr(torch, DTYPES[dtype]) if dtype != "auto" else getattr(config, "dtype", None) or torch.float32
    kind = getattr(torch, kind) if isinstance(kind, str) else kind
    with torch.device("meta"), explain_failure(name):
        trust_options = {"trust_remote_code": True} if trust_remote_code else {}
        model = model_class(config, trust_remote_code).from_config(config, dtype=kind, **trust_options)
    text_config = config.get_text_config()
    layers = attention_layers(text_config)
    weights, unpacked = (least_held(model), 0) if stream else _weight_bytes(model, quantize, double_quantized)
    rows = context if logits is None else min(logits, context)
    return MemoryEstimate(
        name=name,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        weights=weights,
        cache=batch * kind.itemsize * sum(_cache_floats(layer, context) for layer in layers),
        activations=batch * (least(model, layers, context) + rows * text_config.vocab_size * (kind.itemsize + 4))
        + unpacked,
        context=context,
        batch=batch,
        precision=f"{quantize} and {_type_name(kind)}" if quantize else _type_name(kind),
    )


def free_bytes(device: str) -> int | None:
    """Return the free bytes on `device`, or on all GPUs together for "auto" and "cuda"; None if unknown."""
    torch = libraries.torch
    chosen = chosen_device(device)
    if device in ("auto", "cuda") and torch.cuda.is_available():
        return sum(free_memory(f"cuda:{index}") or 0 for index in range(torch.cuda.device_count()))
    return free_memory(chosen)


def check_memory(estimated: MemoryEstimate, free: int | None, *, anyway: bool = False) -> str:
    """Return the estimate's line, to print before loading; raise ModelError if the model cannot fit into memory.

    `free` is the number of free bytes. The error says what would fit. With `anyway`, no error is raised, but the line
    says that the model does not fit.
    """
    line = estimated.line(free)
    if free is None or estimated.total <= free:
        return line
    if anyway:
        return f"{line}; this does not fit; continuing because of --anyway"
    if estimated.weights > free:
        advice = "use a larger device, --dtype bf16 or --quantize nf4, or capture --stream"
    else:
        # Memory other than weights grows at least in proportion to the context, so these tokens fit by the estimate.
        share = (free - estimated.weights) / (estimated.total - estimated.weights)
        fitting = largest_fitting(lambda context: context, int(estimated.context * share), estimated.context)
        advice = f"{fitting:,} tokens may fit" if fitting else "use shorter texts, or a larger device"
    raise ModelError(f"{line}; it cannot fit: {advice} (or go on with --anyway)")


def _weight_bytes(model: Any, quantize: str | None, double_quantized: bool) -> tuple[int, int]:
    """Return the bytes of all weights and buffers, and those of the largest quantized weight when it is unpacked."""
    torch = libraries.torch
    total = sum(tensor.numel() * tensor.element_size() for tensor in (*model.parameters(), *model.buffers()))
    if quantize is None:
        return total, 0
    head = model.get_output_embeddings()
    unpacked = 0
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and module is not head:  # what bitsandbytes quantizes
            weight = module.weight
            size = weight.numel() * weight.element_size()
            total += _quantized_bytes(weight.numel(), weight.shape[0], quantize, double_quantized) - size
            unpacked = max(unpacked, size)
    return total, unpacked


def _quantized_bytes(numbers: int, rows: int, quantize: str, double_quantized: bool) -> int:
    """Return the bytes of a quantized weight with its scales; the weight has `rows` rows and `numbers` numbers."""
    if quantize == "int8":
        return numbers + 4 * rows
    blocks = -(-numbers // BLOCK)
    scales = blocks + 4 * -(-blocks // OUTER) if double_quantized else 4 * blocks
    return -(-numbers // 2) + scales


def attention_layers(config: Any) -> tuple[Layer, ...]:
    """Return the attention layers that a text configuration describes; empty for a model without attention."""
    types = getattr(config, "layer_types", None)
    cross_layers = set(getattr(config, "cross_attention_layers", None) or ())
    window = getattr(config, "sliding_window", None)
    layers = []
    for index in range(config.num_hidden_layers):
        layer_config = config_of_layer(config, index)
        heads = getattr(layer_config, "num_attention_heads", None)
        if not heads:
            return ()
        key_heads = getattr(layer_config, "num_key_value_heads", None) or heads
        head_dim = getattr(layer_config, "head_dim", None) or layer_config.hidden_size // heads
        sliding = window is not None and (types is None or "sliding" in types[index])
        kind: Any = "cross" if index in cross_layers else "sliding" if sliding else "full"
        layers.append(Layer(index, kind, heads, key_heads, head_dim, head_dim**-0.5, window if sliding else None))
    return tuple(layers)


def _cache_floats(layer: Layer, context: int) -> int:
    """Return the number of floats in a layer's cache of keys and values for one text."""
    if layer.kind == "cross":
        return 0
    return 2 * layer.key_heads * layer.head_dim * min(context, layer.window or context)


def _type_name(kind: Any) -> str:
    return str(kind).removeprefix("torch.")


def _count(parameters: int) -> str:
    return f"{parameters / GIGA:.2f} B" if parameters >= 1e8 else f"{parameters / 1e6:.2f} M"


def _bytes_text(amount: int) -> str:
    if amount < GIGA / 10:
        return f"{amount / 1e6:.1f} MB"
    return f"{amount / GIGA:.2f} GB" if amount < 10 * GIGA else f"{amount / GIGA:.1f} GB"
