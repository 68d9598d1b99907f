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

CHOSEN = (
    "only_layers",
    "only_heads",
    "parts",
    "keep_short",
)  # settings that are in a manifest only where they are asked for
EACH = "each as the tokenizer begins and ends a text"  # before, only the first window of a text began with its token


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """What to capture, and the folder to write to.

    Parameters
    ----------
    model : ModelSource
        The model and its precision.
    texts : TextSource
        The texts.
    context : int
        Tokens of a document; a multiple of `buckets`.
    out : Path
        The folder of the capture.
    heads : int or None
        Heads to draw; None for all.
    buckets : int
        Equal parts of the context.
    rate : float
        Mean number of queries, and of keys, kept per bucket of a document.
    limit : int or None
        Documents to take; None for all.
    seed : int
        Of the token draw.
    pre_rope : bool
        Keep queries and keys as they are before the rotary embedding.
    sliding : bool
        Draw from sliding-window layers as well.
    windows : bool
        Cut a long text into consecutive documents.
    skip_short, keep_short : bool
        Pass over texts that are shorter than the context, or take them as they are; else one is an error.
    fewer : bool
        Go on with what is there when texts give fewer documents than `limit`; else that is an error.
    only_layers : tuple of int
        Draw heads from these layers alone; from all when empty.
    only_heads : tuple of (int, int)
        Take these heads, by layer and query head, and draw none.
    parts : tuple of str
        What is kept beside queries and keys: see `keyquery.models.captures.sampling.PARTS`.
    batch : int
        Documents of a forward. Shorter ones are padded at their end, which no token of theirs sees, so that each is
        what it is by itself.
    stream : bool
        Read the weights of the model's blocks from disk in each forward pass, and hold none of them in memory.
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
            raise ModelError(f"--batch {self.batch}: at least 1 document goes through a forward; give 1 or more")
        if self.skip_short and self.keep_short:
            raise ModelError("--skip-short and --keep-short: a shorter text is either passed over or taken; give one")
        for name in self.parts:
            if name not in PARTS:
                raise ModelError(f"no part {name!r} of a model{or_known(name, PARTS)}")

    def requested(self) -> dict[str, Any]:
        """Return the settings that the options alone decide, as JSON values.

        They are published with the capture, so of local files and folders they have names and hashes, but no paths.
        """
        model, texts = self.model, self.texts
        local = {
            "fingerprint": fingerprint(Path(model.name)) if Path(model.name).is_dir() else None,
            "texts_hash": texts.digest,
            "window_ends": EACH if self.windows else None,
            "keep_short": self.keep_short or None,
            "only_layers": list(self.only_layers) or None,
            "only_heads": [list(each) for each in self.only_heads] or None,
            "parts": [name for name in PARTS if name in self.parts] or None,
        }
        return {
            **{name: value for name, value in local.items() if value is not None},
            "model": shown_model(model.name),
            "asked_revision": model.revision,
            "asked_dtype": model.dtype,
            "quantize": model.quantize,
            "double": model.double,
            "texts": texts.shown,
            "field": texts.field,
            "split": texts.split,
            "context": self.context,
            "buckets": self.buckets,
            "rate": self.rate,
            "heads": self.heads,
            "documents": self.limit,
            "seed": self.seed,
            "pre_rope": self.pre_rope,
            "sliding": self.sliding,
            "windows": self.windows,
            "skip_short": self.skip_short,
        }
