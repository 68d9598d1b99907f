"""Import heavy libraries on demand; if one is missing, the error gives the command that installs it.

`libraries.torch` and `libraries.transformers` are typed modules; import others with `need`.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from boundpaper.errors import MissingDependency

if TYPE_CHECKING:
    import torch as torch
    import transformers as transformers

PURPOSES = {"torch": "to run models", "transformers": "to load models"}
EXTRAS = {  # by library: the extra of this package that installs it
    **dict.fromkeys(("torch", "transformers", "transformers.modeling_utils", "transformers.masking_utils"), "models"),
    **dict.fromkeys(("transformers.integrations.accelerate", "accelerate", "accelerate.utils.offload"), "models"),
    **dict.fromkeys(("safetensors", "pyarrow", "pyarrow.parquet", "datasets", "huggingface_hub", "numba"), "models"),
    "gguf": "pretrained",
    "bitsandbytes": "quant",
    **dict.fromkeys(("jieba", "sentence_transformers", "sklearn", "sklearn.metrics"), "bench"),
}


def need(name: str, purpose: str = "") -> ModuleType:
    """Import a library of an optional extra.

    `name` is a key of `EXTRAS`. Raises MissingDependency if the library is not installed; the message gives `purpose`,
    such as `to run models`, and the command that installs the library.
    """
    # A library's progress bar would disturb the command's own bar.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = (error.name or name).split(".")[0]
        raise MissingDependency.package(package, EXTRAS[name], purpose) from None


if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """Import torch or transformers."""
        if name not in PURPOSES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return need(name, PURPOSES[name])


def version(name: str) -> str | None:
    """Return the version of an installed distribution, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(name)
    except PackageNotFoundError:
        return None
