"""Watch files: after each save, build the dependents of the file and reload open pages.

Each build is a new process, which loads the present code; the engine decides which steps it runs.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event

from boundpaper.build import process
from boundpaper.errors import MissingDependency

ROOMS = ("analysis", "artifacts", "figures", "packages", "paper", "tables")
MADE = ("out", "artifacts/results")  # what builds write
DRAFTS = ("~", ".part", ".swp", ".swx", ".tmp", ".bak", ".orig", ".pyc", ".crdownload", "___jb_tmp___", "___jb_old___")
QUIET = 200  # milliseconds without another change before a build starts


def is_source(root: Path, path: str) -> bool:
    """Return whether a change of this file requires a build: true for the project's sources, not for editors' drafts.

    Temporary files of editors may have any name, so only known endings in each folder count.
    """
    place = Path(path)
    try:
        name = place.relative_to(root).as_posix()
    except ValueError:
        return False
    hidden = any(part.startswith(".") or part == "__pycache__" for part in Path(name).parts)
    draft = place.name.endswith(DRAFTS) or place.name.startswith("#") or not (place.suffix or place.is_dir())
    return not hidden and not draft and not any(name == made or name.startswith(f"{made}/") for made in MADE)


def watch(
    root: Path,
    command: Sequence[str],
    say: Callable[[str], None],
    done: Callable[[], None],
    stop: Event | None = None,
    *,
    of: Callable[[str], bool] | None = None,
) -> None:
    """Run `command` now and after every change, until stopped.

    `say` receives lines on changes and on the end of builds, `done` is called after every build, and setting `stop`
    ends the watch. `of` returns whether a change of a file requires a build; by default `is_source`. Raises
    MissingDependency without `watchfiles`.
    """
    try:
        import watchfiles
    except ModuleNotFoundError:
        raise MissingDependency.package("watchfiles", "press") from None
    rooms = [root] if of else [root / room for room in ROOMS if (root / room).is_dir()]
    _run_build(root, command, say)
    done()
    changes = watchfiles.watch(
        *rooms,
        watch_filter=lambda _, path: of(path) if of else is_source(root, path),
        debounce=5 * QUIET,
        step=QUIET,
        stop_event=stop,
        raise_interrupt=True,
    )
    for batch in changes:
        say(f"changed: {_some_names({Path(path).relative_to(root).as_posix() for _, path in batch})}")
        _run_build(root, command, say)
        done()


def _run_build(root: Path, command: Sequence[str], say: Callable[[str], None]) -> None:
    start = time.monotonic()
    code = process.run_shown(command, root)
    seconds = time.monotonic() - start
    say(f"built in {seconds:.1f} s" if code == 0 else f"failed after {seconds:.1f} s; waiting for the next change")


def _some_names(names: Iterable[str], most: int = 4) -> str:
    known = sorted(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")
