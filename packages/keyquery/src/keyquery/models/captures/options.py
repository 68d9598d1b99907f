"""Define the options of a capture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import ModelError
from boundpaper.suggestions import or_known
from keyquery.models.captures.sampling import PARTS
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.loading import ModelSource, shown_model
from keyquery.models.texts import TextSource

OPTIONAL = ("only_layers", "only_heads", "parts", "keep_short")  # settings that a manifest has only if requested
WINDOW_ENDS = "each as the tokenizer begins and ends a text"  # in older captures, only the first window began so


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """Options of a capture.

    Parameters
    ----------
    model : ModelSource
        The model and its precision.
    texts : TextSource
        The texts.
    context : int
        Number of tokens per document; a multiple of `buckets`.
    out : Path
        Folder to write to.
    heads : int or None
        Number of heads to draw; None for all.
    buckets : int
        Number of equal parts of the context.
    rate : float
        Mean number of tokens per bucket of a document whose queries are kept, and likewise of keys.
    limit : int or None
        Number of documents; None for all.
    seed : int
        Seed for drawing tokens.
    pre_rope : bool
        Whether to capture queries and keys before the rotary embedding.
    sliding : bool
        Whether to draw heads from sliding-window layers as well.
    windows : bool
        Whether to cut a long text into consecutive documents.
    skip_short, keep_short : bool
        Whether to skip texts that are shorter than the context, or to keep them as they are; if neither, a shorter text
        is an error.
    fewer : bool
        Whether to accept fewer documents than `limit`, instead of raising an error.
    only_layers : tuple of int
        Draw heads only from these layers; from all if empty.
    only_heads : tuple of (int, int)
        Use these heads, as (layer, query head), instead of drawing.
    parts : tuple of str
        What to capture besides queries and keys: keys of `keyquery.models.captures.sampling.PARTS`.
    batch : int
        Number of documents in a forward pass. Padding at the end of shorter documents does not change their vectors.
    stream : bool
        Whether to read the weights of the model's blocks from disk in each forward pass, not to keep them in memory.
    """

    model: ModelSource
    texts: TextSource
    context: int
    out: Path
    heads: int | None = 300
    buckets: int = 16
    rate: float = 1.0
    limit: int | None = None
    seed: int = 0
    pre_rope: bool = False
    sliding: bool = False
    windows: bool = False
    skip_short: bool = False
    keep_short: bool = False
    fewer: bool = False
    only_layers: tuple[int, ...] = ()
    only_heads: tuple[tuple[int, int], ...] = ()
    parts: tuple[str, ...] = ()
    batch: int = 1
    stream: bool = False

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ModelError(f"--batch {self.batch}: a forward pass needs at least 1 document; give 1 or more")
        if self.skip_short and self.keep_short:
            raise ModelError(
                "--skip-short and --keep-short: shorter texts are either skipped or kept; give only one of the two"
            )
        for name in self.parts:
            if name not in PARTS:
                raise ModelError(f"--parts {name}: cannot be captured{or_known(name, PARTS)}")

    def requested(self) -> dict[str, Any]:
        """Return the settings that the options determine without loading the model, as JSON values.

        They are published with the capture, so local files appear by name and hash, without paths.
        """
        model, texts = self.model, self.texts
        optional = {
            "fingerprint": fingerprint(Path(model.name)) if Path(model.name).is_dir() else None,
            "texts_hash": texts.digest,
            "window_ends": WINDOW_ENDS if self.windows else None,
            "keep_short": self.keep_short or None,
            "only_layers": list(self.only_layers) or None,
            "only_heads": [list(head) for head in self.only_heads] or None,
            "parts": [name for name in PARTS if name in self.parts] or None,
        }
        return {
            **{name: value for name, value in optional.items() if value is not None},
            "model": shown_model(model.name),
            "asked_revision": model.revision,
            "asked_dtype": model.dtype,
            "quantize": model.quantize,
            "double": model.double,
            "texts": texts.shown,
            "field": texts.field,
            "split": texts.split,
            **{name: getattr(self, name) for name in ("context", "buckets", "rate", "heads")},
            "documents": self.limit,
            **{name: getattr(self, name) for name in ("seed", "pre_rope", "sliding", "windows", "skip_short")},
        }
