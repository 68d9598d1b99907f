"""Open a job executor by its name; job executors extend `concurrent.futures.Executor`."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from boundpaper.errors import ThesisError
from boundpaper.suggestions import suggest
from keyquery.jobs.resources import Resources

EXECUTORS = ("local", "slurm")


class JobExecutor(Executor):
    """An executor that can submit several calls together and end running ones.

    As a context manager, it waits for its calls at the end of the block. If the block raises, it ends the calls.
    """

    def submit_all(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Future[Any]]:
        """Submit one call for each tuple of positional arguments in `calls`; on Slurm, as a job array."""
        return [self.submit(function, *call) for call in calls]

    @abstractmethod
    def end(self) -> None:
        """Cancel waiting jobs and end running ones; return when they have ended."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.shutdown(wait=True)
        else:
            self.end()


def open_executor(
    name: str, folder: Path, *, workers: int | Literal["gpu"] | None = None, resources: Resources | None = None
) -> JobExecutor:
    """Make an executor by its name; use it in a `with` statement.

    "local" runs processes on this machine; "slurm" writes scripts and raw logs to `folder`, which must be on a shared
    file system. `workers` is the number of concurrent jobs; if it is None, "local" runs one job at a time and "slurm"
    as many as the cluster allows. "gpu" runs one job per GPU. Raises ThesisError if the name is unknown or the executor
    cannot enforce a given limit, and MissingDependency if submitit or Slurm's programs are not installed.
    """
    from keyquery.jobs.local import LocalExecutor
    from keyquery.jobs.slurm import SlurmExecutor

    limits = resources or Resources()
    if workers is not None and workers != "gpu" and workers < 1:
        raise ThesisError(f"{workers} jobs at a time: give 1 or more")
    if name == "local":
        if names := limits.only_slurm():
            raise ThesisError(f"only slurm can set {' or '.join(names)}: leave the setting out, or choose slurm")
        return LocalExecutor(1 if workers is None else workers, gpus=limits.gpus, cpus=limits.cpus)
    if name == "slurm":
        if workers == "gpu":
            raise ThesisError('workers "gpu" means one job per GPU of this machine; for slurm give the GPUs per job')
        return SlurmExecutor(folder / "slurm", limits, workers)
    hint = suggest(name, EXECUTORS).rstrip()
    raise ThesisError(f"unknown executor {name!r}: give {' or '.join(EXECUTORS)}{'; ' if hint else ''}{hint}")
