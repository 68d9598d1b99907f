"""Captures of small models made for tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keyquery.models.captures.capture import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.reading import Capture, open_capture
from keyquery.models.checkpoints.loading import ModelSource
from keyquery.models.texts import TextSource


def captured(
    model: Path, folder: Path, words: Callable[[int], str], context: int = 64, texts: int = 6, **more: Any
) -> Capture:
    """Write texts made by `words` from a seed, capture them in a folder, and return the capture of all their tokens."""
    folder.mkdir(exist_ok=True)
    (folder / "t.jsonl").write_text("\n".join(json.dumps({"text": words(seed)}) for seed in range(texts)))
    source = ModelSource(str(model), dtype="fp32", device="cpu")
    options: dict[str, Any] = {"context": context, "buckets": 4, "rate": float(context), "out": folder / "out", **more}
    return open_capture(capture(CaptureOptions(model=source, texts=TextSource(str(folder / "t.jsonl")), **options)))
