"""Describe models by their shapes, to estimate memory and to test small versions without a download."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.checkpoints.estimate import MemoryEstimate, of_config

SMALL = 32  # divisor of the widths in a small version, whose numbers of heads are unchanged
SMALL_HEAD_DIM = 8
SMALL_VOCABULARY = 256


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Facts of a model's config.json that determine its memory and architecture.

    `inner` is the inner width of the MLP, `tied` says whether input and output embeddings are shared, and `rope` has
    further rotary parameters (`rope_type` and its settings). `cross_layers` are the indices of cross-attention layers,
    which do not run on text. `besides` is the number of parameters of an image tower, which is loaded but not run on
    text.
    """

    type: str
    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    head_dim: int
    vocabulary: int
    positions: int
    rope_theta: float
    rope: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False
    cross_layers: tuple[int, ...] = ()
    besides: int = 0

    def config(self) -> Any:
        """Return the configuration of this shape.

        Raises ModelError when transformers does not know the model type.
        """
        transformers = libraries.transformers
        settings: dict[str, Any] = {
            **{"num_hidden_layers": self.layers, "hidden_size": self.width, "intermediate_size": self.inner},
            **{"num_attention_heads": self.heads, "num_key_value_heads": self.key_heads, "head_dim": self.head_dim},
            **{"vocab_size": self.vocabulary, "max_position_embeddings": self.positions},
            "rope_parameters": {"rope_type": "default", **self.rope, "rope_theta": float(self.rope_theta)},
            **{"tie_word_embeddings": self.tied, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
        }
        if self.type == "mistral":
            settings["sliding_window"] = None  # as in version 0.2; the class's default is 4,096
        if self.cross_layers:
            settings["cross_attention_layers"] = list(self.cross_layers)
            settings = {"text_config": settings, "tie_word_embeddings": self.tied}
        try:
            return transformers.AutoConfig.for_model(self.type, **settings)
        except ValueError as error:
            raise ModelError(
                f"transformers {transformers.__version__} cannot create a model of type {self.type} ({error})"
            ) from error

    def shallow(self, layers: int = 2) -> Shape:
        """Return a shape with the same widths and `layers` layers; the last has cross-attention if any layer has it."""
        return dataclasses.replace(self, layers=layers, cross_layers=(layers - 1,) if self.cross_layers else ())

    def small(self) -> Shape:
        """Return a small version: same class, heads, key heads and kind of rotation, but narrow and shallow."""
        derived = self.width == self.heads * self.head_dim  # some classes can only derive the head dimension
        return dataclasses.replace(
            self.shallow(),
            width=self.heads * SMALL_HEAD_DIM if derived else self.width // SMALL,
            inner=self.inner // SMALL,
            head_dim=SMALL_HEAD_DIM,
            vocabulary=SMALL_VOCABULARY,
            besides=0,
        )

    def estimate(
        self,
        name: str,
        *,
        context: int,
        logits: int | None = None,
        dtype: str = "bf16",
        quantize: str | None = None,
        double: bool = False,
    ) -> MemoryEstimate:
        """Return the memory estimate that `of_config` makes for one text, plus an image tower's weights in `dtype`."""
        dtype = "bf16" if dtype == "auto" else dtype
        estimated = of_config(
            self.config(), name, context=context, logits=logits, dtype=dtype, quantize=quantize, double_quantized=double
        )
        itemsize = 4 if dtype == "fp32" else 2
        return dataclasses.replace(
            estimated,
            parameters=estimated.parameters + self.besides,
            weights=estimated.weights + itemsize * self.besides,
        )
