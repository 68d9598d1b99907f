"""Compute how much memory a forward pass needs at least, how much is free, and which context fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyquery.models import libraries
from keyquery.models.architecture import Layer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

STEP = 256  # suggested contexts are multiples of this number of tokens


def least(model: PreTrainedModel, layers: Iterable[Layer], context: int) -> int:
    """Return a lower bound on the bytes that a forward pass over `context` tokens allocates besides the weights.

    The bound counts two copies of the residual stream, and queries, keys and values of one layer or the inner vectors
    of its MLP. It also counts what grows with the square of the context: under eager attention the scores of one layer
    (in the model's type and in float32), or under sdpa the boolean mask of a sliding window.
    """
    config = model.config.get_text_config()
    itemsize = model.dtype.itemsize
    width = config.hidden_size
    inner = getattr(config, "intermediate_size", None) or 4 * width
    inner = max(inner) if isinstance(inner, list | tuple) else inner
    floats_per_token, bytes_per_pair = 0, 0
    for layer in layers:
        if layer.kind == "cross":
            continue
        head_floats = (layer.query_heads + 2 * layer.key_heads) * layer.head_dim
        floats_per_token = max(floats_per_token, head_floats, 2 * inner)
        if config._attn_implementation == "eager":
            bytes_per_pair = max(bytes_per_pair, layer.query_heads * (itemsize + 4))
        elif config._attn_implementation == "sdpa" and layer.window is not None and layer.window < context:
            bytes_per_pair = max(bytes_per_pair, 1)
    return int(context * (2 * width + floats_per_token) * itemsize + context * context * bytes_per_pair)


def free_memory(device: Any) -> int | None:
    """Return a device's free bytes, None if unknown; on the CPU, the shell's and the container's limits apply too."""
    torch = libraries.torch
    device = torch.device(device)
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type != "cpu":
        return None
    amounts = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                amounts.append(int(line.split()[1]) * 1024)
        status = Path("/proc/self/status").read_text()
        import resource  # Windows lacks this, and the files above

        for kind, field in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):  # of ulimit -v, -d
            if (limit := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY:
                amounts.append(max(0, limit - 1024 * int(status.split(field)[1].split()[0])))
        container_limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if container_limit != "max":
            used = int(Path("/sys/fs/cgroup/memory.current").read_text())
            amounts.append(max(0, int(container_limit) - used))
    except (OSError, ValueError):
        pass
    return min(amounts) if amounts else None


def largest_fitting(bytes_needed: Callable[[int], int], free: int, limit: int) -> int:
    """Return the largest context, a multiple of 256 up to `limit`, that needs at most `free` bytes; 0 if none."""
    low, high = 0, limit // STEP
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if bytes_needed(middle * STEP) <= free else (low, middle - 1)
    return low * STEP


def exhausted(error: BaseException) -> bool:
    """Return whether an exception means that memory ran out, on the GPU or the CPU."""
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
        return True
    phrases = ("not enough memory", "'t allocate memory", "not allocate memory", "out of memory")
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in phrases)


def largest_working_context(attempt: Callable[[int], object], context: int) -> int:
    """Return the largest of context/2, context/4, ... with which `attempt` does not run out of memory; 0 if none.

    Each attempt starts with an empty cache of GPU memory.
    """
    torch = libraries.torch
    while context >= 2:
        context //= 2
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        try:
            attempt(context)
        except Exception as error:
            if not exhausted(error):
                raise
        else:
            return context
    return 0
