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
    model: Path, folder: Path, words: Callable[[int], str], context: int = 64, texts: int = 6, **changes: Any
) -> Capture:
    """Write texts that `words` makes from seeds, and return a capture of all their tokens in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "t.jsonl").write_text("\n".join(json.dumps({"text": words(seed)}) for seed in range(texts)))
    source = ModelSource(str(model), dtype="fp32", device="cpu")
    options: dict[str, Any] = {"context": context, "buckets": 4, "rate": float(context), "out": folder / "out"}
    options |= changes
    return open_capture(capture(CaptureOptions(model=source, texts=TextSource(str(folder / "t.jsonl")), **options)))


def contents(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file in a folder by its path in the folder."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
