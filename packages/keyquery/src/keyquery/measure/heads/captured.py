"""Capture a subject over texts from its book, and compute the head geometry from the capture."""

import json
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.files import write
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.jobs.content import key
from keyquery.measure.bar import Bar
from keyquery.measure.heads.analysis import analyse_heads
from keyquery.measure.heads.finding import HeadResult
from keyquery.measure.measurements import slug_of_texts
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import LONGEST, Options, Subject
from keyquery.models.captures import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.progress import CaptureProgress
from keyquery.models.captures.reading import Capture, open_capture
from keyquery.models.checkpoints.loading import LoadedModel, shown_model
from keyquery.models.texts import TextSource

BUCKETS = 16
DOCUMENTS = 256  # number per capture; also queries per bin, since one token per bucket and document is captured


def open_or_capture(subject: Subject, options: Options, kind: str | None = None) -> Capture:
    """Return a capture of queries and keys over 256 texts of one kind; it is made once and kept in the subject's cache.

    `kind` is one of the book's kinds of texts (None: the first), unless `options.texts_from` gives other texts. Raises
    DataError if the model was made in memory, texts are too short, or `options.tokens` is too small.
    """
    if subject.source is None or subject.folder is None:
        raise DataError(f"{subject.name}: a model in memory cannot be captured; save it to a folder first")
    length = options.tokens or min(subject.training_length, LONGEST)
    if length < BUCKETS:
        raise DataError(
            f"{subject.name}: a capture needs texts of at least {BUCKETS} tokens, not {length}; give more --tokens"
        )
    context = length - length % BUCKETS
    kind, source = kind or subject.book.kinds()[0], options.texts_source
    json_lines = b"" if source is not None else _texts_as_json_lines(subject, kind, context)
    label = kind if source is None else slug_of_texts(source.path_or_id)
    # the name hashes model and texts, so a retrained model or other texts make another capture
    arguments = {"model": subject.source, "identity": subject.identity, "texts": source, "content": json_lines}
    hash_part = key(open_or_capture, arguments)[:8]
    folder = subject.folder.parent / "captures" / f"{subject.name}-{label}-{context}-{hash_part}"
    if source is None:
        file = folder.with_name(f"{folder.name}.jsonl")
        if not file.is_file():
            write(file, json_lines)
    capture_options = CaptureOptions(
        model=subject.source,
        texts=source or TextSource(str(file)),
        context=context,
        out=folder,
        heads=300,
        buckets=BUCKETS,
        limit=DOCUMENTS,
        windows=source is not None,
        skip_short=source is not None,
        fewer=True,
    )
    if not capture.is_finished(capture_options):
        subject.tell(f"capturing {label}")
        facts = {**subject.facts, "model": shown_model(subject.source.name)}

        def tell(state: CaptureProgress) -> None:
            for note in state.notes:
                subject.tell(note)

        capture.record(capture_options, tell, loaded=LoadedModel(subject.model, subject.tokenizer, facts))
        capture.finish(capture_options)
    finished_capture = open_capture(folder)
    if source is not None:
        documents = (finished_capture.manifest or {}).get("documents", [])
        subject.used.add_texts(source.shown, (f"{document['id']} {document['digest']}" for document in documents))
    return finished_capture


def findings(subject: Subject, options: Options, kind: str | None = None) -> list[HeadResult]:
    """Return the geometry of each captured head of a subject, over texts of one kind; see `open_or_capture`."""
    subject_capture = open_or_capture(subject, options, kind)
    folder = Path(subject_capture.root).parent.parent / "heads"
    results, _ = analyse_heads(subject_capture, PlasticityOptions(), folder, 1, Bar())
    return results


def finding_row(result: HeadResult, metric: str, condition: str = "") -> Row:
    """Return a head's metric as a row of an experiment; n is the number of queries."""
    value, reason = result.metrics.get(metric), result.reasons.get(metric, "")
    return row(metric, value, result.queries, condition=condition, layer=result.layer, head=result.head, reason=reason)


def _texts_as_json_lines(subject: Subject, kind: str, context: int) -> bytes:
    texts = subject.book.texts(kind, DOCUMENTS, context, 0, subject.tokenizer)
    lines = [json.dumps({"id": f"{kind}-{number}", "text": text}) for number, text in enumerate(texts)]
    return ("\n".join(lines) + "\n").encode()
