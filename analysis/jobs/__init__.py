"""Jobs: one model, or one shard of documents, each; run on this machine or by Slurm, and never twice; no torch here.

A command that has several jobs writes

    with open_executor("local", folder) as executor:
        results = run_jobs(function, [{"model": "a"}, {"model": "b"}], executor, folder)

where `function` is importable by name and its arguments are plain values or dataclasses of them.
"""

from analysis.jobs.executors import EXECUTORS, open_executor
from analysis.jobs.failure import Failure, JobsFailed
from analysis.jobs.folder import JobFolder
from analysis.jobs.perform import report
from analysis.jobs.resources import Resources
from analysis.jobs.running import JobProgress, run_jobs

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
