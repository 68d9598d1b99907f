"""Keep a model's blocks on disk: a forward pass reads each weight when needed, and discards it.

A forward pass reads each weight at most once, so N documents need N reads of the checkpoint, or one with `--batch N`.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "BOOL": "bool"}

M_MMAP_THRESHOLD, LEAST_MAPPED = -3, 1 << 16
"""A setting of Linux's C library, and its value: larger blocks of memory go back to the system as soon as freed."""


def device_map(model: PreTrainedModel, device: str) -> dict[str, str]:
    """Return the device map for a model on the meta device: blocks go to disk, everything else to `device`.

    Raises ModelError if the model has no list with as many blocks as its configuration states.
    """
    blocks, parameters = _block_list_name(model), model.named_parameters(remove_duplicate=False)  # tied ones as well
    owners = {name.rpartition(".")[0] for name, _ in (*parameters, *model.named_buffers())}
    return {blocks: "disk", **{owner: device for owner in owners if not f"{owner}.".startswith(f"{blocks}.")}}


def least_held(model: PreTrainedModel) -> int:
    """Return how many bytes of weights must be in memory at once: all outside blocks, and the largest in a block."""
    largest, outside, blocks = 0, 0, _block_list_name(model)
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if name.startswith(f"{blocks}."):
            largest = max(largest, tensor.nbytes)
        else:
            outside += tensor.nbytes
    return largest + outside


def _block_list_name(model: PreTrainedModel) -> str:
    """Return the name of the list of blocks; if an image tower has a list of equal length, the list with more weights.

    Raises ModelError if there is no list of that length.
    """
    count = int(model.config.get_text_config().num_hidden_layers)
    lists = {
        name: sum(parameter.numel() for parameter in module.parameters())
        for name, module in model.named_modules()
        if isinstance(module, libraries.torch.nn.ModuleList) and len(module) == count
    }
    if not lists:
        raise ModelError(f"{type(model).__name__}: no list of its {count} blocks is found; leave --stream out")
    return str(max(lists, key=lambda name: lists[name]))


class _StreamedFile:
    """A reader of single tensors of a safetensors file; the library's reader would map the whole file into memory."""

    def __init__(self, file: str, *_: Any, **__: Any) -> None:
        self.file = file
        with open(file, "rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            self.tensors: dict[str, Any] = json.loads(stream.read(size))
        self._begin = 8 + size
        self.tensors.pop("__metadata__", None)

    def __enter__(self) -> _StreamedFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def keys(self) -> list[str]:
        return list(self.tensors)

    def get_slice(self, name: str) -> _StreamedTensor:
        return _StreamedTensor(self, name)

    def get_tensor(self, name: str) -> Tensor:
        torch, entry = libraries.torch, self.tensors[name]
        start, end = entry["data_offsets"]
        if entry["dtype"] not in TYPES:
            raise ModelError(f"{self.file}: --stream cannot read {name} of type {entry['dtype']}; leave --stream out")
        raw = torch.empty(end - start, dtype=torch.uint8)
        buffer: Any = raw.numpy()
        with open(self.file, "rb") as stream:
            stream.seek(self._begin + start)
            if stream.readinto(buffer) != end - start:
                raise ModelError(f"{self.file}: cut short at {name}; download it again")
        tensor: Tensor = raw.view(getattr(torch, TYPES[entry["dtype"]])).reshape(entry["shape"])
        return tensor


@dataclass(frozen=True)
class _StreamedTensor:
    """A tensor of a safetensors file; the tensor is read only when it is indexed."""

    file: _StreamedFile
    name: str

    def get_shape(self) -> Any:
        return self.file.tensors[self.name]["shape"]

    def get_dtype(self) -> Any:
        return self.file.tensors[self.name]["dtype"]

    def __getitem__(self, index: Any) -> Any:
        return self.file.get_tensor(self.name)[index]


@contextmanager
def stream_weights(name: str) -> Iterator[None]:
    """In a `with` block, make libraries read weights one by one when they load a model.

    Otherwise they map the whole file into memory, which a limit of the shell (`ulimit -v`) may forbid. Raises
    ModelError, with `name`, if the loader needs weights in another arrangement than the file's.
    """
    names = ("transformers.modeling_utils", "transformers.integrations.accelerate", "accelerate.utils.offload")
    modules: list[Any] = [libraries.need(module_name) for module_name in names]
    safe_open = modules[0].safe_open
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # of Linux's C library
        mallopt(M_MMAP_THRESHOLD, LEAST_MAPPED)
    for module in modules:
        module.safe_open = _StreamedFile
    try:
        yield
    except ValueError as error:
        if "offload_folder" not in str(error):
            raise
        raise ModelError(
            f"{name}: its weights are rearranged on loading (as in most mixtures of experts), which --stream "
            "does not support; leave --stream out"
        ) from None
    finally:
        for module in modules[:-1]:  # the last module reads weights in every forward pass
            module.safe_open = safe_open
