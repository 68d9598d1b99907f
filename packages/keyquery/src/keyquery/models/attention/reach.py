"""Find how many positions a model can take, and how many it was made for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import describe_failures, run_forward
from keyquery.models.attention.encodings import is_per_layer_type
from keyquery.models.attention.positions import TABLE, WAVES

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROBE_TOKENS = 4

_rows: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # number of rows by model with a table of positions


def position_rows(model: PreTrainedModel) -> int | None:
    """Return the number of rows in the model's tables of learned positions; None for a model without such a table.

    A table of positions is recognised by use, not by name: in a forward pass of a few tokens, it is indexed or sliced
    at indices that grow by 1 per token. Rows before the first token's row (OPT, RoBERTa) are not counted. Raises
    ModelError when the forward pass fails.
    """
    torch = libraries.torch
    embed = torch.nn.functional.embedding
    rows: list[int] = []

    class Lookups(torch.overrides.TorchFunctionMode):
        """Records every tensor that is indexed or sliced."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cut = function is torch.Tensor.__getitem__ and isinstance(args[0], torch.nn.Parameter) and args[0].ndim == 2
            if function is embed or cut:
                arguments = dict(zip(("weight", "input") if cut else ("input", "weight"), args, strict=False)) | (
                    kwargs or {}
                )
                places, table = arguments["input"], arguments["weight"]
                if isinstance(places, slice):  # Whisper slices its table
                    places = torch.arange(*places.indices(table.shape[0]))
                elif not isinstance(places, torch.Tensor):
                    return function(*args, **(kwargs or {}))
                if places.ndim and places.shape[-1] == PROBE_TOKENS and bool((places.diff(dim=-1) == 1).all()):
                    rows.append(int(table.shape[0]) - int(places.min()))
            return function(*args, **(kwargs or {}))

    tokens = torch.tensor([[3, 5] * (PROBE_TOKENS // 2)]) % int(model.config.get_text_config().vocab_size)
    with describe_failures(model, PROBE_TOKENS), Lookups():
        run_forward(model, tokens)
    return min(rows, default=None)


def refuse_longer(model: PreTrainedModel) -> None:
    """Make a model with a table of positions raise ModelError for inputs longer than the table.

    Otherwise a forward pass crashes, on a GPU with the whole process. Models without a table are left unchanged.
    Raises ModelError if the forward pass that looks for the table fails.
    """
    torch = libraries.torch
    words = model.get_input_embeddings()
    tables = _sine_table_rows(model)
    if any(isinstance(module, torch.nn.Embedding) and module is not words for module in model.modules()):
        tables += [row_count] if (row_count := position_rows(model)) is not None else []
    if not tables:
        return
    rows = min(tables)
    _rows[model] = rows

    def refuse(module: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        reached = _positions_used(options.get("input_ids", inputs[0] if inputs else None), options)
        if reached > rows:
            raise ModelError(
                f"{type(model).__name__} (model type {model.config.model_type}): a text of {reached} tokens is too "
                f"long: the table of {learned(model)}positions has {rows} rows; give a shorter one (in `run`, prompts "
                "of tasks have other lengths: --items 0 leaves them out)"
            )

    model.register_forward_pre_hook(refuse, with_kwargs=True)


def learned(model: PreTrainedModel) -> str:
    """Return "learned " if a table of positions is learned; empty if it contains sines (CTRL, GPT-J)."""
    return "" if _sine_table_rows(model) else "learned "


def _sine_table_rows(model: PreTrainedModel) -> list[int]:
    """Return the numbers of rows in a model's tables of sines."""
    return [len(table) for name, table in model.named_buffers() if name.rpartition(".")[2] in (WAVES, TABLE)]


def learned_positions(model: PreTrainedModel) -> int | None:
    """Return the number of positions beyond which `refuse_longer` refuses a text; None without a table of positions."""
    return _rows.get(model)


def _positions_used(tokens: Any, options: dict[str, Any]) -> int:
    """Return the number of positions that a forward pass uses, including those in the key cache."""
    mask, places = options.get("attention_mask"), options.get("position_ids")
    if places is not None:
        return int(places.max()) + 1
    if mask is not None and mask.ndim == 2:
        return int(mask.sum(dim=-1).max())
    return 0 if tokens is None else int(tokens.shape[-1])


def positions_made_for(config: Any) -> tuple[int, str] | None:
    """Return the number of positions that a configuration is made for, and the setting that says so; None if unknown.

    This is `max_position_embeddings` or, if longer, the range to which a scaled rotation stretches the trained
    positions.
    """
    text = config.get_text_config()
    size = getattr(text, "max_position_embeddings", None)
    limits = [(int(size), f"max_position_embeddings is {int(size):,}")] if isinstance(size, int) and size > 0 else []
    for kind, trained, factor in _scaled_rotations(text):
        if factor and trained:
            stretched = int(trained * factor)
            limits.append((stretched, f"its rotation ({kind}) stretches {int(trained):,} positions to {stretched:,}"))
    return max(limits, default=None, key=lambda limit: limit[0])


def turning_by_length(config: Any) -> tuple[str, int] | None:
    """Return the kind of a rotation that differs by the length of the text, and the tokens up to which it does not."""
    rotations = ((kind, int(trained or 0)) for kind, trained, _ in _scaled_rotations(config.get_text_config()))
    return next((rotation for rotation in rotations if rotation[0] in ("dynamic", "longrope")), None)


def _scaled_rotations(text: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield kind, trained positions and factor of every scaled rotation of a text configuration."""
    rope, limit = getattr(text, "rope_parameters", None) or {}, getattr(text, "max_position_embeddings", None)
    for settings in filter(None, rope.values() if is_per_layer_type(rope) else (rope,)):
        if (kind := settings.get("rope_type", "default")) != "default":
            trained = settings.get("original_max_position_embeddings") or (limit if kind == "dynamic" else None)
            yield kind, trained, settings.get("factor")
