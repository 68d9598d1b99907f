"""An interpreter that has imported the libraries already: it forks for each command, which then starts in no time.

Run as a program, it reads requests from standard input, a line of JSON each, and answers on standard output. Each
command is a process of its own, in its own folder, with the sources that lie there; only libraries are shared.
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

# What commands import outside the project; none starts a thread, and one that is missing is left to the command.
LIBRARIES = ("click", "yaml", "jinja2", "numpy", "pandas", "pyarrow", "scipy.stats", "scipy.optimize")

OPENED = {"BOUNDPAPER_ROOT"}


class Interpreter:
    """A running warmed interpreter, with the environment that the libraries saw when they were imported.

    `program` is what it runs: this file, or one that calls `main` with more libraries.
    """

    def __init__(self, program: str = __file__) -> None:
        self.environment = _environment()
        # a session of its own: Ctrl-C in the tests' terminal ends the tests, and then this
        self.process = subprocess.Popen(
            [sys.executable, "-P", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        atexit.register(self.end)

    def run(self, root: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `script` of the folder `root`; what it printed and its exit code, negative where a signal ended it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            printed = [Path(folder) / name for name in ("out", "err")]
            for file in printed:
                file.touch()
            opened = {name: os.environ[name] for name in OPENED & os.environ.keys()}
            asked = [str(root), opened, [script, *arguments], *map(str, printed)]
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            code = int(self.process.stdout.readline())
            return subprocess.CompletedProcess([script, *arguments], code, *(file.read_text() for file in printed))

    def end(self) -> None:
        """End it and wait, so that its seconds count among the tests'."""
        self.process.communicate()


def _environment() -> dict[str, str]:
    """What libraries may read: all but the name of the test, and the paper that is open, which a request says."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTEST_CURRENT_TEST", *OPENED}}


@cache
def _interpreter(program: str) -> Interpreter:
    return Interpreter(program)


def run(root: Path, script: str, *arguments: str, program: str = __file__) -> subprocess.CompletedProcess[str]:
    """Run a script by the warmed interpreter, or by a fresh one where libraries might read another environment."""
    warmed = _interpreter(program)
    if warmed.environment == _environment():
        return warmed.run(root, script, *arguments)
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def serve() -> None:
    """Answer requests until there are no more; return in the child, which is to run what `sys.argv` says."""
    for line in sys.stdin:
        root, opened, arguments, *printed = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(root)
            for name in OPENED:
                os.environ.pop(name, None)
            os.environ.update(opened)
            for number, path in enumerate((os.devnull, *printed)):
                opened = os.open(path, os.O_RDWR | os.O_APPEND)
                os.dup2(opened, number)
                os.close(opened)
            sys.argv, sys.path[:0] = arguments, [root]
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


def main(libraries: Iterable[str] = LIBRARIES) -> None:
    """Import libraries, answer requests, and run in each child what it was asked for."""
    for library in libraries:
        with suppress(ImportError):
            import_module(library)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()
    serve()
    place = str(Path(sys.argv[0]).absolute())
    module = types.ModuleType("__main__")
    module.__file__ = place
    sys.modules["__main__"] = module
    try:
        exec(compile(Path(place).read_text(), place, "exec"), module.__dict__)
    except SystemExit as end:
        leave(end.code)
    leave(None)


def leave(code: object) -> None:
    """End as an interpreter does, but leave the libraries as they are: to take them apart copies all of their pages."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)


if __name__ == "__main__":
    main()
