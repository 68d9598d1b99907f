"""A lock around numba's compiler: one process compiles a function, and the others load it."""

import fcntl
from pathlib import Path
from typing import Any

from numba.core import dispatcher as numba_dispatcher
from numba.core.compiler_lock import global_compiler_lock


def compile_alone(folder: Path) -> None:
    """Let this process compile only while no other process compiles; `folder` has the lock that they share."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = (folder / "one-compiles.lock").open("w")
    original_compile, depth = numba_dispatcher.Dispatcher.compile, 0

    def alone(dispatcher: Any, signature: Any) -> Any:
        nonlocal depth
        with global_compiler_lock:
            if not depth:  # called functions are compiled within the caller
                fcntl.flock(stream, fcntl.LOCK_EX)
            depth += 1
            try:
                return original_compile(dispatcher, signature)
            finally:
                depth -= 1
                if not depth:
                    fcntl.flock(stream, fcntl.LOCK_UN)

    vars(numba_dispatcher)["Dispatcher"].compile = alone
