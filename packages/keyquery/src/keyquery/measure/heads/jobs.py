"""Analyse a capture's heads as cluster jobs; each takes a share of the heads and stores findings for all to read."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from boundpaper.errors import DataError
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.jobs import Resources, open_executor, report, run_jobs
from keyquery.measure.bar import open_bar
from keyquery.measure.heads.finding import analyse_in_turn, finding_path
from keyquery.models.captures.reading import Capture

HEADS = 8  # of a job, where the number of jobs is not given
JOBS = 100  # then at most


def analyse_missing(
    capture: Capture, options: PlasticityOptions, folder: Path, jobs: int | None, executor: str, resources: Resources
) -> None:
    """Analyse the heads that have no finding in `folder` yet; each job takes a share of them.

    A stopped run, repeated, analyses only the missing heads, since a job stores each finished head.

    Findings are kept in `folder`, below the project; jobs must see the capture's. None is a job for every eight heads.
    Raises JobsFailed when a job ended without its result; what it had finished is kept.
    """
    # jobs begin in a folder of their own
    capture, folder = replace(capture, root=capture.root.absolute()), folder.absolute()
    wanted = [number for number, head in enumerate(capture.heads) if not _is_finished(capture, number, options, folder)]
    if not wanted:
        return
    count = min(len(wanted), jobs or min(JOBS, -(-len(wanted) // HEADS)))
    # neighbours together: they read the same keys
    edges = [len(wanted) * share // count for share in range(count + 1)]
    shares = [
        {"capture": capture, "options": options, "folder": folder, "numbers": tuple(wanted[first:last])}
        for first, last in pairwise(edges)
    ]
    names = [f"share {share + 1} of {count}" for share in range(count)]
    logs = folder / "jobs"
    with open_bar("jobs") as shown, open_executor(executor, logs, workers=count, resources=resources) as pool:
        # findings are asked for one by one above: a job of an earlier run whose findings were deleted runs again
        run_jobs(analyse_share, shares, pool, logs, names=names, valid=lambda done: False, progress=shown.follow)


def analyse_share(capture: Capture, options: PlasticityOptions, folder: Path, numbers: tuple[int, ...]) -> int:
    """Run a job that analyses some heads; damaged heads are left to the command, which reports what is wrong."""
    outcomes = analyse_in_turn(capture, [capture.heads[number] for number in numbers], options, folder)
    for done, (_, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, DataError):
            print(outcome)
        report(f"{done} of {len(numbers)} heads")
    return len(numbers)


def _is_finished(capture: Capture, number: int, options: PlasticityOptions, folder: Path) -> bool:
    path, _ = finding_path(capture, capture.heads[number], options, folder)
    return path.is_file()
