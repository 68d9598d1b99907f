"""Does plasticity depend on the text? Measure the same heads over two kinds of text."""

from typing import Any

import numpy as np

from boundpaper.errors import DataError
from keyquery.measure.heads.captured import BUCKETS, DOCUMENTS, finding_row, findings
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject

METRICS = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop", "r_k_a", "bias_strength")
CHOOSES_TEXTS = True
REFUSES_TEXTS = True
SETTINGS: dict[str, Any] = {"documents": DOCUMENTS, "buckets": BUCKETS, "estimator": "aligned_full", "pairs": "earlier"}


def measure(subject: Subject, options: Options) -> list[Row]:
    """Return rows of each head's metrics on each kind of text in the book, and of their means over heads.

    The condition is the kind of text; in rows of means, layer and head are empty. A head without a value has a reason.
    Raises DataError if texts are given instead of generated, or the book has just one kind.
    """
    kinds = tuple(subject.book.kinds())
    if options.texts_from is not None or len(kinds) < 2:
        raise DataError("text_kinds compares kinds of generated text; leave --texts out")
    rows: list[Row] = []
    for kind in kinds:
        heads = findings(subject, options, kind)
        for metric in METRICS:
            values = [head.metrics[metric] for head in heads if metric in head.metrics]
            mean = float(np.mean(values)) if values else None
            reason = "" if values else next(head.reasons[metric] for head in heads)
            rows.append(row(metric, mean, len(values), condition=kind, reason=reason))
            rows += [finding_row(head, metric, kind) for head in heads]
    return rows
