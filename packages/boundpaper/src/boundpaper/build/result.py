"""Run a study, and keep the committed result if its numbers agree with the new numbers."""

import pandas as pd

from boundpaper.build.job import Job
from boundpaper.errors import SpecError
from boundpaper.store.checked import result_record
from boundpaper.store.results import bytes_to_keep, text


def build(job: Job) -> dict[str, str | bytes]:
    """Return a study's result `artifacts/results/NAME.csv`, and the file that records its content hash."""
    frame = job.call()
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(f"{job.file}: {job.function}() returned a {type(frame).__name__}; return a DataFrame")
    path = f"artifacts/results/{job.name}.csv"
    content = bytes_to_keep(job.root / path, text(frame, job.name).encode())
    return {path: content, **result_record(job.name, path, content)}
