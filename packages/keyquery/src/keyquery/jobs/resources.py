"""Resources that a job asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from boundpaper.errors import ThesisError

MINUTES = 60  # the time limit where none is given
# submitit has Slurm signal a job 90 s before its end, and takes that for a timeout only within the last 10 min of it;
# a much shorter job is signalled, and so ended, at its start
LEAST_MINUTES = 10


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one job asks for; None leaves the choice to the executor.

    Parameters
    ----------
    partition : str or None
        Slurm's partition.
    minutes : int or None
        Slurm's time limit, at least 10; 60 when None.
    gpus : int or None
        GPUs of a job; 0 hides them.
    cpus : int or None
        Processor cores of a job.
    memory : float or None
        Slurm's memory limit in GiB.

    Raises
    ------
    ThesisError
        When a number is out of range.
    """

    partition: str | None = None
    minutes: int | None = None
    gpus: int | None = None
    cpus: int | None = None
    memory: float | None = None

    def __post_init__(self) -> None:
        if self.minutes is not None and self.minutes < LEAST_MINUTES:
            raise ThesisError(
                f"a time limit of {self.minutes} min is too short for Slurm's warning 90 s before the end; "
                f"give {LEAST_MINUTES} min or more"
            )
        if self.gpus is not None and self.gpus < 0:
            raise ThesisError(f"{self.gpus} GPUs: give 0 or more")
        if self.cpus is not None and self.cpus < 1:
            raise ThesisError(f"{self.cpus} CPU cores: give 1 or more")
        if self.memory is not None and not 0 < self.memory < math.inf:
            raise ThesisError(f"{self.memory:g} GiB of memory: give a number above 0")
        if self.partition is not None and (not self.partition or self.partition.split() != [self.partition]):
            raise ThesisError(f"the partition {self.partition!r} is not a partition; `sinfo` lists the partitions")

    def only_slurm(self) -> list[str]:
        """Names of the given limits that only Slurm can enforce."""
        return [name for name in ("partition", "minutes", "memory") if getattr(self, name) is not None]
