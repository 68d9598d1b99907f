"""Measure in one forward pass per text what six experiments need, such as massive values, sinks and layer content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import Block, blocks, why_hidden
from keyquery.models.architecture import run_forward
from keyquery.models.attention.calls import Call, recording
from keyquery.models.attention.projections import Projections, projecting
from keyquery.models.attention.statistics import attention_statistics
from keyquery.models.surveys.hidden_entropy import hidden_entropy
from keyquery.models.surveys.record import ENTROPY_TOKENS, VARIANTS, TextSurvey
from keyquery.models.undefined import NotFinite

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

PER_HEAD = ("first", "first_later", "local", "self", "entropy", "entropy_share", "top_first", "top_changes")
NO_CONTENT = {  # content measures of a block whose MLP cannot be separated from its other parts
    **dict.fromkeys(("attention_norm", "mlp_norm", "share", "cosine_attention", "cosine_mlp"), np.full(3, np.nan)),
    "unexplained": np.asarray(np.nan),
}
PER_LAYER = ("null", "null_later", "pairs", "pairs_content", "decay", "decay_content")
NORMS_AFTER = (  # norms after attention and MLP, before the residual stream, in some architectures
    ("post_attention_layernorm", "post_feedforward_layernorm"),
    ("post_self_attn_layernorm", "post_mlp_layernorm"),
)


@dataclass(frozen=True)
class SurveyOptions:
    """Options for what a survey measures.

    `where` says whether norms of queries and keys are those before ("pre") or after ("post") the rotary embedding.
    `entropy` says whether to compute the entropy of hidden states, an eigenvalue problem of size min(T, D) per layer.
    `bos` is the beginning-of-sequence token; if None, the one in the model's configuration.
    """

    where: Literal["pre", "post"] = "pre"
    entropy: bool = True
    bos: int | None = None


DEFAULT = SurveyOptions()


def survey_text(model: PreTrainedModel, tokens: Any, options: SurveyOptions = DEFAULT, text: str = "") -> TextSurvey:
    """Return the measurements of one text, with id `text`, in one forward pass.

    `tokens` (1, T) usually begin with the beginning-of-sequence token. Interventions that are applied around the call
    take effect, except those that rewrite attention calls, since only one recording can be active. All reductions are
    in float32 or better. Raises ModelError if a quantity cannot be measured in this architecture, layers differ in
    their heads, or values are not finite.
    """
    if tokens.ndim != 2 or tokens.shape[0] != 1 or tokens.shape[1] < 2:
        raise ModelError(f"a survey takes one text of two tokens or more, not token ids of shape {tuple(tokens.shape)}")
    model_blocks = blocks(model)
    hooks = _SurveyHooks(model_blocks, options, separable=not why_hidden(model, "mlp"))
    with ExitStack() as stack:
        if options.where == "pre":
            hooks.projections = stack.enter_context(projecting(model, tokens.shape[1]))
        for block in model_blocks:
            for hook in hooks.add(block):
                stack.callback(hook.remove)
        stack.enter_context(recording(model, hooks.measure_call))
        run_forward(model, tokens)
    layers = hooks.measurements()
    bos = options.bos if options.bos is not None else model.config.get_text_config().bos_token_id
    arrays: dict[str, NDArray[Any]] = {
        name: _stack_layers([layer[name] for layer in layers], name) for name in layers[0] if name != "edges"
    }
    for name in ("residual_first", "residual_mean", "residual_median", "hidden_entropy", "hidden_rank"):
        arrays[name] = np.concatenate([hooks.first_residual[name][None], arrays[name]])
    return TextSurvey(
        text=text,
        tokens=int(tokens.shape[1]),
        first_is_bos=bos is not None and int(tokens[0, 0]) in np.atleast_1d(bos),
        where=options.where,
        layers=np.array([block.layer for block in model_blocks], dtype=np.int64),
        edges=layers[0]["edges"],
        **arrays,
    )


def _stack_layers(values: Sequence[Any], name: str) -> NDArray[Any]:
    arrays = [np.asarray(value) for value in values]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ModelError(f"layers differ in shape ({name}: {sorted(shapes)}); a survey needs layers of equal shape")
    return np.stack(arrays)


class _SurveyHooks:
    """Hooks and recorder of a forward pass, which reduce a layer to measurements as soon as the layer ends.

    `separable` says whether the MLP of each block can be separated from the block's other parts.
    """

    def __init__(self, model_blocks: Sequence[Block], options: SurveyOptions, *, separable: bool) -> None:
        self._separable = separable
        self.projections: Projections | None = None
        self.first_residual: dict[str, NDArray[Any]] = {}  # measurements before the first block
        self._options = options
        self._layers: dict[int, dict[str, Any]] = {block.layer: {} for block in model_blocks}
        self._outputs: dict[tuple[int, str], Tensor] = {}  # of modules in blocks that have not ended

    def measure_call(self, call: Call) -> None:
        """Measure one attention call."""
        if call.cross or call.layer is None:
            return
        if call.layer not in self._layers or "first" in self._layers[call.layer]:
            raise ModelError(f"layer {call.layer} is no decoder block or computes attention twice in one forward pass")
        query, key = call.query, call.key
        if self.projections is not None:
            query, key = self.projections.before(call)
        row = self._layers[call.layer]
        statistics = attention_statistics(call)
        row |= {name: getattr(statistics, name) for name in (*PER_HEAD, *PER_LAYER, "edges")}
        for side, tensor in (("q", query), ("k", key), ("v", call.value)):
            squares = tensor[0].float().square()  # (H, T, d)
            row[f"norms_{side}"] = squares.sum(dim=1).sqrt().cpu().numpy()
            row[f"{side}_norm"] = _mean_of_tokens(squares.sum(dim=(0, 2)).sqrt())
        lengths = call.value[0].float().norm(dim=-1)  # (K, T)
        row["value_first"] = _float64_array(lengths[:, 0])
        row["value_content"] = _float64_array(lengths[:, 1:].mean(dim=1))

    def add(self, block: Block) -> list[Any]:
        """Hook a block and, if separable, the two modules that add to the residual stream; return the hooks."""
        self._width = block.width
        writers = zip(("attention", "mlp"), _writing_modules(block) if self._separable else (), strict=False)
        return [
            block.module.register_forward_pre_hook(self._input_hook(block.layer), with_kwargs=True),
            *(module.register_forward_hook(self._output_hook(block.layer, name)) for name, module in writers),
            block.module.register_forward_hook(self._block_hook(block.layer)),
        ]

    def measurements(self) -> list[dict[str, Any]]:
        """Return the measurements, layer by layer; raise ModelError if a layer lacks some."""
        missing = [layer for layer, row in self._layers.items() if "first" not in row or "share" not in row]
        if missing:
            raise ModelError(f"layers {missing} did not compute attention or did not end in this forward pass")
        return list(self._layers.values())

    def _input_hook(self, layer: int) -> Callable[..., None]:
        def hook(module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
            stream = inputs[0] if inputs else options.get("hidden_states")
            if stream is None:
                raise ModelError(f"{type(module).__name__}: its input, the residual stream, was not found")
            self._outputs[layer, "before"] = stream[0].float()
            if layer == next(iter(self._layers)):
                self.first_residual = self._residual(stream[0].float())

        return hook

    def _output_hook(self, layer: int, name: str) -> Callable[..., None]:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            states = output[0] if isinstance(output, tuple) else output
            self._outputs[layer, name] = states.reshape(-1, states.shape[-1]).float()  # experts may flatten (1, T, D)

        return hook

    def _block_hook(self, layer: int) -> Callable[..., None]:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            after = (output[0] if isinstance(output, tuple) else output)[0].float()
            names = ("before", "attention", "mlp") if self._separable else ("before",)
            try:
                before, *updates = (self._outputs.pop((layer, name)) for name in names)
            except KeyError as error:
                raise ModelError(f"layer {layer}: its {error.args[0][1]} output was not seen in the pass") from None
            if not bool(after.isfinite().all()):
                raise NotFinite(f"layer {layer} gives infinite or undefined states")
            self._layers[layer] |= self._residual(after)
            self._layers[layer] |= _content_measures(before, updates[0], updates[1], after) if updates else NO_CONTENT

        return hook

    def _residual(self, states: Tensor) -> dict[str, Any]:
        """Return the measurements of the residual stream (T, D) at one place."""
        if states.ndim != 2 or states.shape[1] != self._width:  # several streams are in a third axis or side by side
            shape = tuple(states.shape)
            fault = f"its blocks pass on several residual streams per token (shape {shape})"
            raise ModelError(f"{fault}; only one can be measured")
        lengths = states.norm(dim=-1)
        if self._options.entropy:
            entropy, rank = hidden_entropy(states)
        else:
            entropy = np.full((len(ENTROPY_TOKENS), len(VARIANTS)), np.nan)
            rank = np.zeros(len(ENTROPY_TOKENS), dtype=np.int64)
        return {
            "residual_first": _float64_array(lengths[0]),
            "residual_mean": _float64_array(lengths[1:].mean()),
            "residual_median": np.median(_float64_array(lengths[1:])),
            "hidden_entropy": entropy,
            "hidden_rank": rank,
        }


def _writing_modules(block: Block) -> tuple[Module, Module]:
    """Return the two modules whose outputs the block adds to the residual stream: attention and MLP, or their norms."""
    for attention, mlp in NORMS_AFTER:
        if hasattr(block.module, attention) and hasattr(block.module, mlp):
            return getattr(block.module, attention), getattr(block.module, mlp)
    return block.attention, block.mlp


def _content_measures(before: Tensor, attention: Tensor, mlp: Tensor, after: Tensor) -> dict[str, Any]:
    """Return norms, shares and cosines of the outputs that a block adds to the residual stream.

    All tensors are float32, of shape (T, D); `before` and `after` are the residual stream around the block.
    """
    update = attention + mlp
    attention_norm, mlp_norm = attention.norm(dim=-1), mlp.norm(dim=-1)
    scale = (before.norm(dim=-1) + after.norm(dim=-1)).clamp(min=1e-20)
    return {
        "attention_norm": _mean_of_tokens(attention_norm),
        "mlp_norm": _mean_of_tokens(mlp_norm),
        "share": _mean_of_tokens(attention_norm / (attention_norm + mlp_norm)),
        "cosine_attention": _mean_of_tokens(_token_cosine(attention, update)),
        "cosine_mlp": _mean_of_tokens(_token_cosine(mlp, update)),
        "unexplained": _float64_array(((after - before - update).norm(dim=-1) / scale).mean()),
    }


def _token_cosine(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosine of two vectors for each token; NaN if one of them is 0."""
    cosine: Tensor = (first * second).sum(dim=-1) / (first.norm(dim=-1) * second.norm(dim=-1))
    return cosine


def _mean_of_tokens(values: Tensor) -> NDArray[np.float64]:
    """Return the mean over all tokens, the value of the first, and the mean over later tokens; means ignore NaN."""
    torch = libraries.torch
    means = torch.stack([values.nanmean(), values[0], values[1:].nanmean()])
    return _float64_array(means)


def _float64_array(values: Tensor) -> NDArray[np.float64]:
    return np.asarray(values.cpu().double().numpy())
