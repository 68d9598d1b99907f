"""Check sources and measurements before a step reads them."""

from boundpaper.build.job import Job
from boundpaper.store.checked import checked_record
from boundpaper.store.descriptor import files
from boundpaper.store.schema import require


def build(job: Job) -> dict[str, str]:
    """Check a source or an experiment's measurements, and return a record of the checked files."""
    require(job.root, [job.name])
    return checked_record(job.root, job.name, files(job.root, job.name))
