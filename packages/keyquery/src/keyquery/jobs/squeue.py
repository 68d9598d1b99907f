"""Read Slurm's queue with Slurm's command-line programs."""

import re
import shutil
import subprocess
from collections.abc import Sequence

from boundpaper.errors import MissingDependency

PROGRAMS = ("sbatch", "srun", "squeue", "scancel")
SECONDS = 60  # time limit for a Slurm command
DEFAULT_ARRAY = 1000  # Slurm's default limit of jobs per array
FINAL_STATES = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT".split()
)


def require_programs() -> None:
    """Check that Slurm's programs are installed.

    Raises MissingDependency, which names the missing programs and says what to do.
    """
    missing_programs = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing_programs:
        raise MissingDependency(
            f"{', '.join(missing_programs)}: not found on the PATH, so there is no Slurm to submit to; run this on a "
            "login node of a cluster, or use the executor local. To install Slurm on Debian or Ubuntu, as root:\n"
            "apt-get update && apt-get install -y --no-install-recommends slurm-wlm munge"
        )


def largest_array() -> int:
    """Return the largest number of jobs in an array: the cluster's `MaxArraySize` minus 1.

    If the cluster does not report `MaxArraySize`, the number is 1000, from Slurm's default.
    """
    settings = _program_output(["scontrol", "show", "config"])
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", settings or "", re.MULTILINE)
    return max(1, int(match[1]) - 1) if match else DEFAULT_ARRAY


def _program_output(argv: Sequence[str]) -> str | None:
    """Return the output of a Slurm program; None if it fails or does not end in time."""
    try:
        process = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout if process.returncode == 0 else None


def job_states(user: str) -> dict[str, str] | None:
    """Return the states of the user's jobs by id (`12`, or `12_3` in an array), including those that just ended.

    States are Slurm's long names. Return None when Slurm does not answer.
    """
    argv = ["squeue", "--noheader", "--array", "--states=all", f"--user={user}", "--format=%F %K %A %T"]
    output = _program_output(argv)
    return None if output is None else parse_queue(output)


def parse_queue(text: str) -> dict[str, str]:
    """Return the states of jobs by id from squeue's lines, each with array id, array index, job id and state."""
    by_job = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4:
            array, index, job, state = words
            by_job[f"{array}_{index}" if index.isdigit() else job] = state
    return by_job


def may_run(state: str | None) -> bool:
    """Return whether a job in this state may still run; None is the state of a job missing from the queue."""
    return state is not None and state not in FINAL_STATES


def cancel_jobs(jobs: Sequence[str]) -> None:
    """Cancel jobs, except those that have ended."""
    # submitit's jobs ignore SIGTERM, so without SIGKILL they would run on for Slurm's KillWait (by default 30 seconds)
    for option in ("--signal=KILL",), ():
        if jobs:
            argv = ["scancel", "--quiet", *option, *jobs]
            subprocess.run(argv, capture_output=True, timeout=SECONDS, check=False)


def reason_of_end(state: str | None, minutes: int) -> str:
    """Return why a job in this state ended without an outcome, and what to change; `minutes` is its time limit."""
    match state:
        case "TIMEOUT" | "DEADLINE":
            return f"exceeded the time limit of {minutes} min; raise the limit, or rerun the command to resume"
        case "OUT_OF_MEMORY":
            return "needed more memory than Slurm gave it; ask for more"
        case "NODE_FAIL" | "BOOT_FAIL":
            return "its node failed; run the command again"
        case "CANCELLED" | "PREEMPTED" | "REVOKED":
            return f"Slurm took it off its node ({state.lower()}); run the command again"
        case None:
            return "is no longer in Slurm's queue and left no outcome"
        case _:
            return f"ended without an outcome (Slurm's state {state})"
