"""Define the resources that a job asks for, and check that their values are allowed."""

import math
from dataclasses import dataclass

from boundpaper.errors import ThesisError

MINUTES = 60  # default time limit
# At submitit's request, Slurm signals a job 90 s before its time limit. A job with a much shorter limit would be
# signalled, and so ended, at its start; and submitit counts the signal as a timeout only in the last 10 min.
LEAST_MINUTES = 10
_SLURM_NAMES = {  # settings whose values are names in Slurm, with a hint how to list these names
    "partition": "`sinfo` lists the partitions",
    "account": "`sacctmgr show associations` lists the accounts",
    "qos": "`sacctmgr show qos` lists the qualities of service",
    "constraint": "`sinfo --format='%N %f'` lists the features of nodes",
}


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resources that one job asks for; None leaves the choice to the executor.

    Parameters
    ----------
    partition, account, qos, constraint : str or None
        Slurm's partition, account to charge, quality of service, and required node features.
    minutes : int or None
        Slurm's time limit in minutes, at least 10; if None, 60.
    gpus : int or None
        Number of GPUs per job; 0 hides all GPUs.
    cpus : int or None
        Number of processor cores per job.
    memory : float or None
        Slurm's memory limit in GiB.
    setup : tuple of str
        Shell lines to run before a Slurm job, such as `module load cuda`.
    at_once : int or None
        Maximal number of concurrent Slurm jobs; if None, unlimited.

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
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    setup: tuple[str, ...] = ()
    at_once: int | None = None

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
        if self.at_once is not None and self.at_once < 1:
            raise ThesisError(f"{self.at_once} jobs at once: give 1 or more")
        for name, hint in _SLURM_NAMES.items():
            value = getattr(self, name)
            if value is not None and value.split() != [value]:
                raise ThesisError(f"the {name} {value!r} is not one word; {hint}")
        for line in self.setup:
            if not line.strip() or "\n" in line:
                raise ThesisError(f"the setup line {line!r} is empty or more than one line; give one --setup per line")

    def only_slurm(self) -> list[str]:
        """Return the names of the settings given here that only Slurm can apply."""
        names = (*_SLURM_NAMES, "minutes", "memory", "setup", "at_once")
        return [name for name in names if getattr(self, name) not in (None, ())]
