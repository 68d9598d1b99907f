"""Functions that tests run as jobs: in a separate module, so that other processes can import them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from boundpaper.errors import ModelError
from keyquery.jobs import report
from waiting import until


class Stubborn(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} is not {second}")


@dataclass(frozen=True)
class Shard:
    """A shard's index and the number of shards."""

    index: int
    count: int


def square(number: int) -> int:
    return number * number


def counted(tally: Path, name: str, seconds: float = 0.0, wait_for: Path | None = None) -> str:
    """Append the name to a file, so that a test can count runs, and return the name."""
    with tally.open("a") as stream:
        stream.write(f"{name}\n")
    if wait_for is not None:
        until(wait_for.exists)
    time.sleep(seconds)
    return name


def beating(path: Path) -> None:
    """Write the process id to a file, start a process that does the same, and run forever."""
    subprocess.Popen([sys.executable, "-c", BEAT, f"{path}.grandchild"])
    exec(compile(BEAT, "beat", "exec"), {"path": str(path)})


def deaf(path: Path) -> None:
    """Write the process id to a file, and then wait in C code, where Python handles no signal."""
    path.with_suffix(".draft").write_text(str(os.getpid()))
    path.with_suffix(".draft").rename(path)
    ctypes.PyDLL(None).pause()  # holds the interpreter's lock: no other thread runs


BEAT = """
import os, sys, time
path = globals().get("path") or sys.argv[1]
with open(f"{path}.draft", "w") as stream:
    stream.write(str(os.getpid()))
os.rename(f"{path}.draft", path)
while True:
    time.sleep(1000)
"""


def fail(number: int) -> int:
    print(f"about to divide {number} by zero")
    return number // 0


def refuse(model: str) -> None:
    raise ModelError(f"{model}: has no tokenizer; give another")


def stubborn() -> None:
    raise Stubborn(1, 2)


def die(how: str) -> None:
    print("last words", flush=True)
    if how == "crash":
        ctypes.string_at(0)
    elif how == "exit":
        sys.exit(7)
    os.kill(os.getpid(), signal.SIGKILL)


def loud(text: str) -> None:
    print(f"{text} from print")
    os.write(1, f"{text} from a library\n".encode())
    subprocess.run(["echo", f"{text} from a program"], check=True)
    print(f"{text} to stderr", file=sys.stderr)


def reporting(stop: Path) -> str:
    report("3 of 5 documents")
    until(stop.exists)
    return "reported"


def environment(name: str) -> str | None:
    return os.environ.get(name)


def reads_input() -> str:
    return sys.stdin.read()


def returns_function() -> object:
    return lambda: None


class Touch:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)
