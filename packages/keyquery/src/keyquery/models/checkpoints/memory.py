"""Memory of a forward pass: least need, free memory, and largest context that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyquery.models import libraries
from keyquery.models.architecture import Layer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

STEP = 256  # contexts are suggested in steps of this many tokens


def least(model: PreTrainedModel, layers: Iterable[Layer], context: int) -> int:
    """Return a lower bound on the bytes that a forward pass over `context` tokens allocates besides the weights.

    Counted: two copies of the residual stream, queries, keys and values of one layer or the inner part of its MLP,
    and what grows with the square of the context: scores of one layer under eager attention (its own type and
    float32), or the boolean mask that sdpa needs for sliding windows. Real use is higher.
    """
    config = model.config.get_text_config()
    item = model.dtype.itemsize
    width = config.hidden_size
    inner = getattr(config, "intermediate_size", None) or 4 * width
    inner = max(inner) if isinstance(inner, list | tuple) else inner
    per_token, squares = 0, 0
    for layer in layers:
        if layer.kind == "cross":
            continue
        heads = (layer.query_heads + 2 * layer.key_heads) * layer.head_dim
        per_token = max(per_token, heads, 2 * inner)
        if config._attn_implementation == "eager":
            squares = max(squares, layer.query_heads * (item + 4))
        elif config._attn_implementation == "sdpa" and layer.window is not None and layer.window < context:
            squares = max(squares, 1)
    return int(context * (2 * width + per_token) * item + context * context * squares)


def free_memory(device: Any) -> int | None:
    """Return the free bytes of a device, None if unknown; on the CPU, limits of shell and container count as well."""
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
            if (bound := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY:
                amounts.append(max(0, bound - 1024 * int(status.split(field)[1].split()[0])))
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if limit != "max":
            used = int(Path("/sys/fs/cgroup/memory.current").read_text())
            amounts.append(max(0, int(limit) - used))
    except (OSError, ValueError):
        pass
    return min(amounts) if amounts else None


def largest_fitting(need_of: Callable[[int], int], room: int, limit: int) -> int:
    """Return the largest context up to `limit`, in steps of 256 tokens, that needs at most `room` bytes; 0 if none."""
    low, high = 0, limit // STEP
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if need_of(middle * STEP) <= room else (low, middle - 1)
    return low * STEP


def exhausted(error: BaseException) -> bool:
    """Return whether an exception means that memory ran out, on the GPU or the CPU."""
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        any(
            part in text for part in ("not enough memory", "'t allocate memory", "not allocate memory", "out of memory")
        )
    )


def largest_working_context(attempt: Callable[[int], object], context: int) -> int:
    """Return the largest of context/2, context/4, ... with which `attempt` succeeds; 0 if none does.

    This is called after memory ran out, so each attempt starts with an emptied cache.
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
