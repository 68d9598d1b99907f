"""Run commands in forks of a process that has imported their modules, so that most runs take no time for imports.

The first run of a command records the imported modules. The forking process then imports them too, except files that
tests damage. Each command runs in a session of its own, with limits of time, memory and file size.

This file is also the program of the forking process: it reads requests from standard input, one JSON object per line.
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
SECONDS = 60  # CPU seconds after which a command counts as hanging
WALL_SECONDS = 300  # wall seconds after which a command counts as hanging
MEMORY = 12 << 30  # maximum bytes of address space
FILE = 1 << 30  # maximum bytes of a file


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    `code` is the exit status, negative for a signal. `seconds` is CPU time, with child processes. `orphans` counts the
    processes of the command's session or folder that still ran half a second later.
    """

    code: int
    output: str
    errors: str
    seconds: float
    orphans: int


@dataclass
class Running:
    """A running command: process number, output files, a function that waits for its end, and how the command ended."""

    pid: int
    printed: Sequence[Path]
    wait: Callable[[], Any]
    ended: Ended | None = None

    def end(self) -> Ended:
        """Wait for the end of the command, at the first call only; return how it ended."""
        if self.ended is None:
            reply = self.wait()
            output, errors = (file.read_bytes().decode(errors="replace") for file in self.printed)
            self.ended = Ended(reply["code"], output, errors, reply["seconds"], reply["orphans"])
        return self.ended

    def runs(self) -> bool:
        """Return whether the command is still running."""
        return state(self.pid) not in ("", "Z")


class Forks:
    """A process that forks for every command of the paper in `root`, and never imports the files in `damaged`."""

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
        """Run a command, then import its modules in the forking process for later runs."""
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
        """Start a command, and end it after the block if it still runs. Only one command may run at a time."""
        with tempfile.TemporaryDirectory() as folder:
            printed = [Path(folder) / name for name in ("out", "err")]
            for file in printed:
                file.touch()  # a command killed early does not create its output files
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
    """Return the fields of `/proc/PID/stat` from the state on, or an empty list if the process does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def state(pid: int) -> str:
    """Return the state letter of a process ("Z" after its end), or an empty string if it does not exist."""
    return (_fields(pid) or [""])[0]


def began(pid: int) -> int:
    """Return the start time of a process, in clock ticks of the system."""
    return int(_fields(pid)[19])


def survivors(leader: int, root: Path, since: int) -> list[int]:
    """Return running processes of the session of `leader`, and processes begun since `since` that work below `root`."""
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
    """Import modules, except those in files of `damaged` and those that cannot be imported."""
    excluded = set(damaged)
    for name in modules:
        with suppress(BaseException):
            from importlib.util import find_spec

            spec = None if name in sys.modules else find_spec(name)
            if spec is not None and spec.origin not in excluded:
                import_module(name)


def _limit() -> None:
    """Limit the memory, file size, CPU time and wall time of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WALL_SECONDS)


def _child(request: dict[str, Any]) -> NoReturn:
    """Run a command in this forked process with its output in files, and exit with its status."""
    code = 1
    try:
        code = _perform(request)
        if request["names"]:
            Path(request["names"]).write_text(json.dumps([name for name in sys.modules if name != "__main__"]))
        vars(threading)["_shutdown"]()  # as Python does at exit, except that it would also delete a thousand modules
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
    _limit()
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
    """Return how many processes of `survivors` still run half a second later, and kill them."""
    end = time.monotonic() + 0.5
    while (orphans := survivors(leader, root, since)) and time.monotonic() < end:
        time.sleep(0.02)
    for orphan in orphans:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)
    return len(orphans)


def _wait(child: int, root: Path, since: int) -> dict[str, Any]:
    """Wait for a child process; return its exit status, CPU seconds, and number of orphans."""
    _, status, usage = os.wait4(child, 0)
    seconds = usage.ru_utime + usage.ru_stime
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
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the child handles Ctrl-C when it is ready
            child = os.fork()
            if not child:
                _child({**request, "root": root})
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            since, reply = began(child), {"pid": child}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
