"""Where the parts of a decoder are: its blocks, their attention, MLP and projections, found by what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boundpaper.errors import ModelError
from keyquery.models.attention.calls import unsupported

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import PreTrainedModel

MLP = ("mlp", "feed_forward", "block_sparse_moe", "ffn")
OUT = ("o_proj", "dense", "out_proj", "c_proj")


@dataclass(frozen=True)
class Block:
    """One decoder block.

    Parameters
    ----------
    layer : int
        Its index from 0.
    module, attention, mlp : Module
        The block; its attention, which returns a tensor or a tuple that starts with one; its MLP.
    out : Module
        The projection from the heads' outputs (B, T, H d) to the residual stream.
    heads, key_heads, head_dim, width : int
        Query heads, key heads, width of a head and of the residual stream.
    """

    layer: int
    module: Module
    attention: Module
    mlp: Module
    out: Module
    heads: int
    key_heads: int
    head_dim: int
    width: int

    def projection(self, side: str) -> Module:
        """What gives queries ("q"), keys ("k") or values ("v") before rotation: a norm where there is one.

        Raises
        ------
        ModelError
            When one projection makes all three together.
        """
        last = getattr(self.attention, f"{side}_norm", None) or getattr(self.attention, f"{side}_proj", None)
        if last is None:
            raise ModelError(
                f"{type(self.attention).__name__} makes queries, keys and values in one projection; "
                f"interventions on '{side}' before the rotary embedding need separate ones"
            )
        module: Module = last
        return module


def blocks(model: PreTrainedModel) -> tuple[Block, ...]:
    """The decoder blocks of a model in order.

    Raises
    ------
    ModelError
        When a block's attention, MLP or output projection is not found.
    """
    by_layer: dict[int, Block] = {}
    for module in model.modules():
        for attention in module.children():
            layer = getattr(attention, "layer_idx", None)
            if layer is None or "ttention" not in type(attention).__name__ or "Cross" in type(attention).__name__:
                continue
            if any(hasattr(attention, name) for name in MLP):  # a block that is named after its attention
                continue
            mlp = next((part for name in MLP if (part := getattr(module, name, None)) is not None), None)
            out = next((part for name in OUT if (part := getattr(attention, name, None)) is not None), None)
            if mlp is None or out is None:
                raise ModelError(
                    f"{type(module).__name__}: no {'MLP' if mlp is None else 'output projection'} found in layer "
                    f"{layer}; looked for {', '.join(MLP if mlp is None else OUT)}"
                )
            by_layer[int(layer)] = Block(int(layer), module, attention, mlp, out, *_heads(model, attention))
    if not by_layer:
        if not any("ttention" in type(module).__name__ for module in model.modules()):
            raise ModelError(unsupported(model))
        raise ModelError(f"{type(model).__name__}: no decoder block with attention and MLP found")
    return tuple(by_layer[layer] for layer in sorted(by_layer))


def _heads(model: PreTrainedModel, attention: Module) -> tuple[int, int, int, int]:
    text = model.config.get_text_config()
    heads = int(text.num_attention_heads)
    keys = int(getattr(text, "num_key_value_heads", None) or heads)
    width = getattr(attention, "head_dim", None) or getattr(attention, "head_size", None)
    dims = int(width or getattr(text, "head_dim", None) or text.hidden_size // heads)
    return heads, keys, dims, int(text.hidden_size)
