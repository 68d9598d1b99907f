"""Find the number of positions that a model accepts, and the number that it was made for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import describe_failures, run_forward
from keyquery.models.attention.calls import model_label
from keyquery.models.attention.encodings import is_per_layer_type
from keyquery.models.attention.positions import ROTATION_TABLE, SINE_EMBEDDINGS

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROBE_TOKENS = 4

_rows: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # by model, the number of rows of its table of positions


def position_rows(model: PreTrainedModel) -> int | None:
    """Return the number of rows in a model's shortest table of learned positions; None without such a table.

    A table of positions is recognised by its use, not by its name: a forward pass of a few tokens reads rows whose
    indices grow by 1 per token. Rows before the first token's row (OPT, RoBERTa) are not counted. Raises ModelError
    when the forward pass fails.
    """
    torch = libraries.torch
    embed = torch.nn.functional.embedding
    rows: list[int] = []

    class LookupRecorder(torch.overrides.TorchFunctionMode):
        """Records the number of rows of every table that is read at consecutive indices."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            options = kwargs or {}
            sliced = function is torch.Tensor.__getitem__ and isinstance(args[0], torch.nn.Parameter)
            if function is embed or (sliced and args[0].ndim == 2):
                names = ("weight", "input") if sliced else ("input", "weight")
                arguments = {**dict(zip(names, args, strict=False)), **options}
                indices, table = arguments["input"], arguments["weight"]
                if isinstance(indices, slice):  # Whisper slices its table
                    indices = torch.arange(*indices.indices(table.shape[0]))
                elif not isinstance(indices, torch.Tensor):
                    return function(*args, **options)
                if indices.ndim and indices.shape[-1] == PROBE_TOKENS and bool((indices.diff(dim=-1) == 1).all()):
                    rows.append(int(table.shape[0]) - int(indices.min()))
            return function(*args, **options)

    tokens = torch.tensor([[3, 5] * (PROBE_TOKENS // 2)]) % int(model.config.get_text_config().vocab_size)
    with describe_failures(model, PROBE_TOKENS), LookupRecorder():
        run_forward(model, tokens)
    return min(rows, default=None)


def refuse_longer(model: PreTrainedModel) -> None:
    """Make a model with a table of positions raise ModelError for inputs longer than the table.

    Without this, such an input crashes the forward pass, and on a GPU the whole process. Models without a table are
    left unchanged. Raises ModelError if the forward pass that looks for the table fails.
    """
    torch = libraries.torch
    token_embedding = model.get_input_embeddings()
    row_counts = _sine_table_rows(model)
    if any(isinstance(module, torch.nn.Embedding) and module is not token_embedding for module in model.modules()):
        row_counts += [count] if (count := position_rows(model)) is not None else []
    if not row_counts:
        return
    rows = _rows[model] = min(row_counts)

    def refuse(module: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        length = _positions_used(options.get("input_ids", inputs[0] if inputs else None), options)
        if length > rows:
            raise ModelError(
                f"{model_label(model)}: a text of {length} tokens is too long: the table of {learned(model)}positions "
                f"has {rows} rows; give a shorter text (in `run`, a shorter text does not shorten task prompts; with "
                "--items 0, no tasks run)"
            )

    model.register_forward_pre_hook(refuse, with_kwargs=True)


def learned(model: PreTrainedModel) -> str:
    """Return the adjective of a model's table of positions: "learned ", or empty if it contains sines (CTRL, GPT-J)."""
    return "" if _sine_table_rows(model) else "learned "


def _sine_table_rows(model: PreTrainedModel) -> list[int]:
    """Return the numbers of rows in a model's tables of sines."""
    return [
        len(table)
        for name, table in model.named_buffers()
        if name.rpartition(".")[2] in (SINE_EMBEDDINGS, ROTATION_TABLE)
    ]


def learned_positions(model: PreTrainedModel) -> int | None:
    """Return the number of tokens to which `refuse_longer` limits a text; None without a table of positions."""
    return _rows.get(model)


def _positions_used(tokens: Any, options: dict[str, Any]) -> int:
    """Return the number of positions that a forward pass uses, including those in the key cache."""
    mask, positions = options.get("attention_mask"), options.get("position_ids")
    if positions is not None:
        return int(positions.max()) + 1
    if mask is not None and mask.ndim == 2:
        return int(mask.sum(dim=-1).max())
    return 0 if tokens is None else int(tokens.shape[-1])


def positions_made_for(config: Any) -> tuple[int, str] | None:
    """Return the number of positions that a configuration is made for, and a clause that says why; None if unknown.

    The number is `max_position_embeddings`, or the number to which a scaled rotation stretches the trained positions if
    that is larger.
    """
    text_config = config.get_text_config()
    size = getattr(text_config, "max_position_embeddings", None)
    limits = [(int(size), f"max_position_embeddings is {int(size):,}")] if isinstance(size, int) and size > 0 else []
    for kind, trained_positions, factor in _scaled_rotations(text_config):
        if factor and trained_positions:
            limit = int(trained_positions * factor)
            limits.append((limit, f"its rotation ({kind}) stretches {int(trained_positions):,} positions to {limit:,}"))
    return max(limits, default=None, key=lambda limit: limit[0])


def length_dependent_rotation(config: Any) -> tuple[str, int] | None:
    """Return the kind of a rotation that depends on a text's length, and the number of tokens above which it does.

    Return None if there is no such rotation.
    """
    for kind, trained_positions, _ in _scaled_rotations(config.get_text_config()):
        if kind in ("dynamic", "longrope"):
            return kind, int(trained_positions or 0)
    return None


def _scaled_rotations(config: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the kind, the trained positions and the factor of every scaled rotation of a text configuration."""
    rope, limit = getattr(config, "rope_parameters", None) or {}, getattr(config, "max_position_embeddings", None)
    for settings in filter(None, rope.values() if is_per_layer_type(rope) else (rope,)):
        if (kind := settings.get("rope_type", "default")) != "default":
            trained_positions = settings.get("original_max_position_embeddings")
            yield kind, trained_positions or (limit if kind == "dynamic" else None), settings.get("factor")
