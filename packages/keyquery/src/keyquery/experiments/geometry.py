"""Head geometry over texts from a model's book: capture and analysis in one run."""

from pathlib import Path
from typing import Any

from keyquery.heads.plasticity import PlasticityOptions
from keyquery.measure.heads.analysis import measure as measure_heads
from keyquery.measure.heads.captured import BUCKETS, DOCUMENTS, open_or_capture
from keyquery.measure.subject import Options, Subject

CHOOSES_TEXTS = True
SETTINGS: dict[str, Any] = {"documents": DOCUMENTS, "buckets": BUCKETS}


def write(root: Path, subject: Subject, options: Options, *, replace: bool = False) -> list[Path]:
    """Capture a subject, analyse its heads, and write the tables (`head_metrics` and others); return their paths.

    Raises DataError as `open_or_capture` and the command `heads` do.
    """
    capture = open_or_capture(subject, options)
    return measure_heads(root, str(capture.root), PlasticityOptions(), name=subject.name, replace=replace).files
