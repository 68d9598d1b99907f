"""An interpreter with its libraries already imported; it forks for each command, so that commands start at once.

Run as a program, it reads requests from standard input, one JSON line each, and answers on standard output. Each
command runs in a separate process, in its folder, with that folder's sources; only libraries are shared.
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

# Libraries that commands import; none starts a thread, and missing ones are skipped here.
LIBRARIES = ("click", "yaml", "jinja2", "numpy", "pandas", "pyarrow", "scipy.stats", "scipy.optimize")

OPENED = {"BOUNDPAPER_ROOT", "TMPDIR", "XDG_CACHE_HOME"}
"""Variables of the environment that each request states."""


class Interpreter:
    """A running warmed interpreter, with the environment that its libraries saw at import.

    `program` is this file, or a file that calls `main` with more libraries.
    """

    def __init__(self, program: str = __file__) -> None:
        self.environment = _environment()
        # a new session: Ctrl-C in the tests' terminal ends the tests, which then end this process
        self.process = subprocess.Popen(
            [sys.executable, "-P", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        atexit.register(self.end)

    def run(self, root: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `script` in the folder `root`; return output and exit code, negative if a signal ended it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder) / name for name in ("out", "err")]
            for file in outputs:
                file.touch()
            opened = {name: os.environ[name] for name in OPENED & os.environ.keys()}
            request = [str(root), opened, [script, *arguments], *map(str, outputs)]
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            code = int(self.process.stdout.readline())
            return subprocess.CompletedProcess([script, *arguments], code, *(file.read_text() for file in outputs))

    def end(self) -> None:
        """End the interpreter and wait, so that its processor time counts among the tests'."""
        self.process.communicate()


def _environment() -> dict[str, str]:
    """Return the environment without the test's name and without the variables that each request sends."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTEST_CURRENT_TEST", *OPENED}}


@cache
def _interpreter(program: str) -> Interpreter:
    return Interpreter(program)


def run(root: Path, script: str, *arguments: str, program: str = __file__) -> subprocess.CompletedProcess[str]:
    """Run a script in the warmed interpreter, or in a new one if the environment differs from the warmed one's."""
    interpreter = _interpreter(program)
    if interpreter.environment == _environment():
        return interpreter.run(root, script, *arguments)
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def serve() -> None:
    """Answer requests until the input ends; return only in a child, which then runs `sys.argv`."""
    for line in sys.stdin:
        root, opened, arguments, *outputs = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(root)
            for name in OPENED:
                os.environ.pop(name, None)
            os.environ.update(opened)
            for number, path in enumerate((os.devnull, *outputs)):
                descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
                os.dup2(descriptor, number)
                os.close(descriptor)
            sys.argv, sys.path[:0] = arguments, [root]
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


def main(libraries: Iterable[str] = LIBRARIES) -> None:
    """Import libraries, answer requests, and run the requested script in each child."""
    for library in libraries:
        with suppress(ImportError):
            import_module(library)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()
    serve()
    path = str(Path(sys.argv[0]).absolute())
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    try:
        exec(compile(Path(path).read_text(), path, "exec"), module.__dict__)
    except SystemExit as end:
        leave(end.code)
    leave(None)


def leave(code: object) -> None:
    """End like an interpreter, but without deleting the libraries, which would copy all of their memory pages."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)


if __name__ == "__main__":
    main()
