"""Sources and measurements are checked before a step reads them."""

from __future__ import annotations

import json

from boundpaper.build.job import Job
from boundpaper.store.descriptor import files
from boundpaper.store.files import digest
from boundpaper.store.schema import require


def build(job: Job) -> dict[str, str]:
    """Builder of a source or an experiment's measurements: check it, and record what was checked."""
    require(job.root, [job.name])
    hashes = {path: digest(job.root / path) for path in files(job.root, job.name)}
    return {f"out/checked/{job.name}.json": json.dumps(hashes, indent=0, sort_keys=True) + "\n"}
