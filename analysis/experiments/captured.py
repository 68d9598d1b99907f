"""Captures of a subject over its own book's texts, and what the head geometry finds in them."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.experiments.bar import Bar
from analysis.experiments.finding import Finding
from analysis.experiments.heads import analysed
from analysis.experiments.subject import LONGEST, Options, Subject
from analysis.heads.plasticity import Options as Estimation
from analysis.models import capture
from analysis.models.captures import Capture, open_capture
from analysis.models.options import CaptureOptions
from analysis.models.texts import Source
from artifacts.errors import DataError
from artifacts.files import write

BUCKETS = 16
DOCUMENTS = 256  # with one token a bucket and document, so many queries in each query bin


def captured(subject: Subject, options: Options, kind: str | None = None) -> Capture:
    """Queries and keys of a subject over 256 texts of one kind, in the folder of its answers; made once.

    Parameters
    ----------
    kind : str or None
        Kind of the book's texts; the first when None. Texts of `options.place` are taken in place of it.

    Raises
    ------
    DataError
        When the model was made in memory, or texts are too short.
    """
    if subject.source is None or subject.folder is None:
        raise DataError(f"{subject.name}: a model in memory cannot be captured; save it to a folder first")
    context = options.tokens or min(subject.training_length, LONGEST)
    context -= context % BUCKETS
    kind = kind or subject.book.kinds()[0]
    folder = subject.folder.parent / "captures" / f"{subject.name}-{kind}-{context}"
    source = options.place or str(_texts(subject, kind, context, folder.with_suffix(".jsonl")))
    asked = CaptureOptions(
        model=subject.source,
        texts=Source(source),
        context=context,
        out=folder,
        heads=300,
        buckets=BUCKETS,
        limit=DOCUMENTS,
        windows=options.place is not None,
        skip_short=options.place is not None,
    )
    subject.tell(f"capturing {kind}")
    return open_capture(capture.capture(asked))


def findings(subject: Subject, options: Options, kind: str | None = None) -> list[Finding]:
    """What the head geometry finds in each captured head of a subject, over texts of one kind."""
    assert subject.folder is not None or subject.source is None
    held = captured(subject, options, kind)
    folder = Path(held.root).parent.parent / "heads"
    found, _ = analysed(held, Estimation(), folder, 1, Bar())
    return found


def _texts(subject: Subject, kind: str, context: int, path: Path) -> Path:
    rows = subject.book.texts(kind, DOCUMENTS, context, 0, subject.tokenizer)
    lines = [json.dumps({"id": f"{kind}-{number}", "text": text}) for number, text in enumerate(rows)]
    content = ("\n".join(lines) + "\n").encode()
    if not path.is_file() or path.read_bytes() != content:
        write(path, content)
    return path
