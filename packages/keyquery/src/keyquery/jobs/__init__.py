"""Run each job (one model, or one shard of documents) once, on this machine or on Slurm; torch is not needed.

A command with several jobs uses

    with open_executor("local", folder) as executor:
        results = run_jobs(function, [{"model": "a"}, {"model": "b"}], executor, folder)

where `function` is importable by name and its arguments are plain values or dataclasses of them.
"""

from keyquery.jobs.executors import EXECUTORS, open_executor
from keyquery.jobs.failure import Failure, JobsFailed
from keyquery.jobs.folder import JobFolder
from keyquery.jobs.perform import report
from keyquery.jobs.resources import Resources
from keyquery.jobs.running import JobProgress, run_jobs

__all__ = [
    "EXECUTORS",
    "Failure",
    "JobFolder",
    "JobProgress",
    "JobsFailed",
    "Resources",
    "open_executor",
    "report",
    "run_jobs",
]
