"""Start and stop a one-node Slurm cluster on this machine's loopback interface, with all files in one folder."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
INSTALL = "apt-get install -y --no-install-recommends slurm-wlm munge"
READY_SECONDS = 30
STOP_SECONDS = 10

CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 Feature=lab
PartitionName=main Nodes={host} Default=YES MaxTime=60 State=UP
"""


def install() -> None:
    """Install Slurm's programs with apt if some are missing and the user is root.

    Raises
    ------
    RuntimeError
        If programs are missing and were not installed; the message says what to run.
    """
    if not _missing():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(f"{', '.join(_missing())}: not installed; on Debian or Ubuntu, as root: {INSTALL}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # A partly refreshed package index may suffice; the installation below decides.
    subprocess.run(["apt-get", "update", "-q"], env=environment, stdout=subprocess.DEVNULL, check=False)
    subprocess.run(INSTALL.split(), env=environment, stdout=subprocess.DEVNULL, check=False)
    if _missing():
        raise RuntimeError(f"{', '.join(_missing())}: could not be installed; as root: apt-get update && {INSTALL}")


def _missing() -> list[str]:
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"  # the daemons may be outside the user's PATH
    return [program for program in PROGRAMS if shutil.which(program, path=path) is None]


@contextmanager
def cluster(folder: Path) -> Iterator[Path]:
    """Start munged, slurmctld and slurmd, yield the path of the configuration, and end the daemons afterwards.

    Parameters
    ----------
    folder : Path
        An empty folder for keys, sockets, state and logs; sockets need a short path.
    """
    for name in ("state", "spool"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    controller, daemon = _free_ports(2)
    config = folder / "slurm.conf"
    config.write_text(
        CONFIG.format(
            host=socket.gethostname().split(".")[0],
            user=getpass.getuser(),
            folder=folder,
            controller=controller,
            daemon=daemon,
        )
    )
    before = {name: os.environ.get(name) for name in ("SLURM_CONF", "PATH")}
    os.environ["SLURM_CONF"] = str(config)
    os.environ["PATH"] = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    try:
        _run(
            "munged",
            f"--key-file={key}",
            f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged.log",
            f"--seed-file={folder}/munged.seed",
            "--num-threads=2",
        )
        _run("slurmctld", "-f", str(config))
        _run("slurmd", "-f", str(config), "-N", socket.gethostname().split(".")[0])
        _wait_for_node(folder)
        yield config
    finally:
        with suppress(OSError, subprocess.SubprocessError):
            # job steps outlive slurmd: end the jobs first
            subprocess.run(["scancel", "--full", "--signal=KILL", f"--user={getpass.getuser()}"], timeout=10)
            subprocess.run(["scancel", f"--user={getpass.getuser()}"], timeout=10)
        for name in ("slurmd", "slurmctld", "munged"):
            _stop(folder / f"{name}.pid", name)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, timeout=30)


def _free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def _wait_for_node(folder: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    state = ""
    while time.monotonic() < deadline:
        state = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False).stdout.strip()
        if state == "idle":
            return
        time.sleep(0.2)
    logs = "\n".join(f"== {path.name}\n{path.read_text()[-2000:]}" for path in sorted(folder.glob("*.log")))
    raise RuntimeError(f"the node is not idle but {state or 'unknown'} after {READY_SECONDS} s\n{logs}")


def _stop(pid_file: Path, program: str) -> None:
    """End a daemon by its pid file, if the process with that number is still the daemon."""
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return
    for number, patience in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, 2)):
        deadline = time.monotonic() + patience
        if not _runs(pid, program):
            return
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        while _runs(pid, program) and time.monotonic() < deadline:
            time.sleep(0.05)


def _runs(pid: int, program: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    name, fields = state[state.index("(") + 1 : state.rindex(")")], state[state.rindex(")") + 2 :]
    return name.startswith(program) and not fields.startswith("Z")
