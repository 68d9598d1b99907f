"""Run commands in forks of a process with their imports done: each a separate session, with limits.

An undisturbed run of a command records its imported modules; the forking process then imports them too, except the
files to be damaged. Later runs of the command do not pay for imports.

Run as a program in the folder of a paper, this file reads requests from standard input, one JSON object per line.
"""

import atexit
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

ENTRY = "build.py"
SECONDS = 60  # processor seconds after which a command counts as hanging
WAITED = 300  # seconds on the clock, for a command that waits
MEMORY = 12 << 30  # bytes of address space
FILE = 1 << 30  # bytes of one file


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit status (negative for a signal), processor seconds including its children,
    and the number of processes of its session or folder still running half a second later.
    """

    code: int
    output: str
    errors: str
    seconds: float
    orphans: int


@dataclass
class Running:
    """A running command: its process, the files of its output, and its end once known."""

    pid: int
    printed: Sequence[Path]
    waited: Callable[[], Any]
    ended: Ended | None = None

    def end(self) -> Ended:
        """Wait for the end; a process can be waited for only once."""
        if self.ended is None:
            reply = self.waited()
            output, errors = (file.read_bytes().decode(errors="replace") for file in self.printed)
            self.ended = Ended(reply["code"], output, errors, reply["seconds"], reply["orphans"])
        return self.ended

    def runs(self) -> bool:
        """Return whether the command is still running."""
        return state(self.pid) not in ("", "Z")


class Forks:
    """A process that forks for every command of the paper in `root`; it does not import the files in `damaged`."""

    def __init__(self, root: Path, damaged: Iterable[Path] = ()) -> None:
        self.root, self.damaged, self.known = root, [str(path) for path in damaged], set[tuple[str, ...]]()
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(root)],
            cwd="/",  # the folder may be recreated between two commands
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def learn(self, *command: str) -> Ended:
        """Run a command, and import for later runs what it imported."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as names:
            ended = self._run(command, names.name)
            modules = json.loads(names.read() or "[]")
        self._reply({"modules": modules, "damaged": self.damaged})
        self.known.add(command)
        return ended

    def run(self, *command: str) -> Ended:
        """Run a command to its end."""
        return self._run(command)

    def _run(self, command: tuple[str, ...], names: str = "") -> Ended:
        with self.running(*command, names=names) as running:
            return running.end()

    @contextmanager
    def running(self, *command: str, names: str = "") -> Iterator[Running]:
        """Start a command (one at a time); the end of the block ends it if it is still running."""
        with tempfile.TemporaryDirectory() as folder:
            printed = [Path(folder) / name for name in ("out", "err")]
            for file in printed:
                file.touch()  # a command ended before it opens its output has printed nothing
            reply = self._reply({"command": command, "printed": [str(file) for file in printed], "names": names})
            running = Running(reply["pid"], printed, lambda: self._reply({"wait": reply["pid"]}))
            try:
                yield running
            finally:
                if running.ended is None:
                    with suppress(ProcessLookupError):
                        os.kill(running.pid, signal.SIGKILL)
                    running.end()

    def _reply(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """End the forking process, and wait for it."""
        self._process.communicate()


def _fields(pid: int) -> list[str]:
    """Return the fields of `/proc/PID/stat` from the state on; empty if the process does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def state(pid: int) -> str:
    """Return the state letter of a process, "Z" after its end; empty if it does not exist."""
    return (_fields(pid) or [""])[0]


def began(pid: int) -> int:
    """Return the start time of a process, in clock ticks of the system."""
    return int(_fields(pid)[19])


def survivors(leader: int, root: Path, since: int) -> list[int]:
    """Return running processes of a session, or started after `since` with a working folder below `root`."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        fields = _fields(pid)
        if not fields or fields[0] == "Z" or pid == os.getpid():
            continue
        with suppress(OSError):
            if int(fields[3]) == leader or (
                int(fields[19]) >= since and Path(os.readlink(entry / "cwd")).is_relative_to(root)
            ):
                pids.append(pid)
    return pids


def _import(modules: Iterable[str], damaged: Iterable[str]) -> None:
    """Import modules, except those to be damaged and those that cannot be imported."""
    excluded = set(damaged)
    for name in modules:
        with suppress(BaseException):
            from importlib.util import find_spec

            spec = None if name in sys.modules else find_spec(name)
            if spec is not None and spec.origin not in excluded:
                import_module(name)


def _limit(seconds: int, waited: int) -> None:
    """Limit the memory, file size and time of this process; signals end it after these times."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(waited)


def _child(request: dict[str, Any]) -> NoReturn:
    """Run a command in this process with its output in files, and exit with its status.

    This forked process never returns into the code of its parent.
    """
    code = 1
    try:
        code = _perform(request)
        if request["names"]:
            Path(request["names"]).write_text(json.dumps([name for name in sys.modules if name != "__main__"]))
        vars(threading)["_shutdown"]()  # Python's own exit steps, without deleting a thousand modules
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _perform(request: dict[str, Any]) -> int:
    """Run a command as if it were a separate program; return its exit status."""
    os.setsid()
    os.chdir(request["root"])
    for number, path in enumerate((os.devnull, *request["printed"])):
        opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    _limit(SECONDS, WAITED)
    sys.argv = [ENTRY, *request["command"]]
    entry = Path(ENTRY).absolute()
    module = types.ModuleType("__main__")
    module.__file__ = str(entry)
    sys.modules["__main__"] = module
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        return 130  # ended before the command started
    try:
        exec(compile(entry.read_text(), str(entry), "exec"), module.__dict__)
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        return 1


def outliving(leader: int, root: Path, since: int) -> int:
    """Return how many processes still run half a second after the session's leader has ended, and end them."""
    end = time.monotonic() + 0.5
    while (orphans := survivors(leader, root, since)) and time.monotonic() < end:
        time.sleep(0.02)
    for orphan in orphans:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)
    return len(orphans)


def _wait(child: int, root: Path, since: int) -> dict[str, Any]:
    """Return how a child process ended, and how many processes outlive it."""
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    orphans = outliving(child, root, since)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "orphans": orphans}


def main(root: str) -> None:
    """Answer requests until the input ends."""
    sys.path[0:0] = [root]
    since = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "modules" in request:
            _import(request["modules"], request["damaged"])
            gc.collect()
            gc.freeze()
            reply: Any = True
        elif "wait" in request:
            reply = _wait(request["wait"], Path(root), since)
        else:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # delays Ctrl-C to the fork
            child = os.fork()
            if not child:
                _child({**request, "root": root})
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            since, reply = began(child), {"pid": child}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
