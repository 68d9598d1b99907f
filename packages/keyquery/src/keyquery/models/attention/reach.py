"""How many positions a model can take, and how many it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyquery.models.architecture import describe_failures, run
from keyquery.models.attention.encodings import nested
from keyquery.models.libraries import need

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROBE_TOKENS = 4


def rows_of_positions(model: PreTrainedModel) -> int | None:
    """The most tokens that the model's tables of learned positions have rows for; None of a model without a table.

    A table of positions is one that is looked up, in a forward of a few tokens, at indices that grow by 1 from token to
    token: it is found by its use, whatever it is called. Rows before the first token's (OPT, RoBERTa) do not count.

    Raises
    ------
    ModelError
        When the forward fails.
    """
    torch = need("torch")
    embed = torch.nn.functional.embedding
    rows: list[int] = []

    class Lookups(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        """Sees every table that is looked up."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is embed:
                given = dict(zip(("input", "weight"), args, strict=False)) | (kwargs or {})
                places, table = given["input"], given["weight"]
                if places.ndim and places.shape[-1] == PROBE_TOKENS and bool((places.diff(dim=-1) == 1).all()):
                    rows.append(int(table.shape[0]) - int(places.min()))
            return function(*args, **(kwargs or {}))

    tokens = torch.tensor([[3, 5] * (PROBE_TOKENS // 2)]) % int(model.config.get_text_config().vocab_size)
    with describe_failures(model, PROBE_TOKENS), Lookups():
        run(model, tokens)
    return min(rows, default=None)


def positions_made_for(config: Any) -> tuple[int, str] | None:
    """The positions that a configuration says its model is made for, and what says so; None where nothing does.

    That is `max_position_embeddings`, or the range to which a scaled rotation stretches the trained positions, where
    that is longer.
    """
    text = config.get_text_config()
    most = getattr(text, "max_position_embeddings", None)
    said = [(int(most), f"max_position_embeddings is {int(most):,}")] if isinstance(most, int) and most > 0 else []
    rope = getattr(text, "rope_parameters", None) or {}
    for each in rope.values() if nested(rope) else (rope,):
        kind, factor = (each or {}).get("rope_type", "default"), (each or {}).get("factor")
        trained = (each or {}).get("original_max_position_embeddings") or (most if kind == "dynamic" else None)
        if factor and trained and kind != "default":
            stretched = int(trained * factor)
            said.append((stretched, f"its rotation ({kind}) stretches {int(trained):,} positions to {stretched:,}"))
    return max(said, default=None, key=lambda each: each[0])
