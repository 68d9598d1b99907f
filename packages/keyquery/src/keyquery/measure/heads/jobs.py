"""Analyse a capture's heads as cluster jobs; each job analyses a share of the heads and stores the results."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from boundpaper.errors import DataError
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.jobs import Resources, open_executor, report, run_jobs
from keyquery.measure.bar import open_bar
from keyquery.measure.heads.finding import analyse_in_turn, finding_path
from keyquery.models.captures.reading import Capture

HEADS_PER_JOB = 8  # if the number of jobs is not given
MAX_JOBS = 100  # if the number of jobs is not given


def analyse_missing(
    capture: Capture, options: PlasticityOptions, folder: Path, jobs: int | None, executor: str, resources: Resources
) -> None:
    """Analyse the heads without a result in `folder`; each job analyses a share of them.

    A job stores each finished head, so repeating a stopped run analyses only the missing heads. `folder` is inside
    the project; jobs must also see the capture's folder. `jobs=None` means one job per eight heads. Raises JobsFailed
    if a job ended without a result; its finished heads are kept.
    """
    # paths must be absolute, since jobs start in another working directory
    capture, folder = replace(capture, root=capture.root.absolute()), folder.absolute()
    paths = [finding_path(capture, head, options, folder)[0] for head in capture.heads]
    missing_numbers = [number for number, path in enumerate(paths) if not path.is_file()]
    if not missing_numbers:
        return
    count = min(len(missing_numbers), jobs or min(MAX_JOBS, -(-len(missing_numbers) // HEADS_PER_JOB)))
    # each job gets neighbouring heads, which share keys
    edges = [len(missing_numbers) * share // count for share in range(count + 1)]
    shares = [
        {"capture": capture, "options": options, "folder": folder, "numbers": tuple(missing_numbers[first:last])}
        for first, last in pairwise(edges)
    ]
    names = [f"share {share + 1} of {count}" for share in range(count)]
    logs = folder / "jobs"
    with open_bar("jobs") as bar, open_executor(executor, logs, workers=count, resources=resources) as pool:
        # a finished job is never reused: it runs again if the results of its heads were deleted
        run_jobs(analyse_share, shares, pool, logs, names=names, valid=lambda outcome: False, progress=bar.follow)


def analyse_share(capture: Capture, options: PlasticityOptions, folder: Path, numbers: tuple[int, ...]) -> int:
    """Analyse the heads with these numbers as a job, and return their count; errors of damaged heads go to the log."""
    outcomes = analyse_in_turn(capture, [capture.heads[number] for number in numbers], options, folder)
    for head_count, (_, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, DataError):
            print(outcome)
        report(f"{head_count} of {len(numbers)} heads")
    return len(numbers)
