"""Watch files, and build what depends on each file that is saved.

Each build is a new process, so that it loads the saved code; the engine decides which steps it runs.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event

from boundpaper.build import process
from boundpaper.errors import MissingDependency

FOLDERS = ("analysis", "artifacts", "figures", "packages", "paper", "tables")
OUTPUTS = ("out", "artifacts/results")  # folders that builds write
DRAFT_ENDINGS = tuple("~ .part .swp .swx .tmp .bak .orig .pyc .crdownload ___jb_tmp___ ___jb_old___".split())
QUIET = 200  # milliseconds without another change before a build starts


def is_source(root: Path, path: str) -> bool:
    """Return whether a changed file requires a build: it is in the project, but no output, hidden file or draft."""
    file = Path(path)
    if not file.is_relative_to(root):
        return False
    relative_path = file.relative_to(root)
    is_hidden = any(name.startswith(".") or name == "__pycache__" for name in relative_path.parts)
    is_draft = file.name.endswith(DRAFT_ENDINGS) or file.name.startswith("#") or not (file.suffix or file.is_dir())
    return not is_hidden and not is_draft and not any(map(relative_path.is_relative_to, OUTPUTS))


def watch(
    root: Path,
    command: Sequence[str],
    say: Callable[[str], None],
    on_build: Callable[[], None],
    stop: Event | None = None,
    *,
    needs_build: Callable[[str], bool] | None = None,
) -> None:
    """Run `command` now and after every change, until stopped.

    `say` receives lines on changes and on the end of builds, `on_build` is called after every build, and setting `stop`
    ends the watch. `needs_build` returns whether a change of a file requires a build. By default, this is `is_source`,
    and only the folders of sources are watched. Raises MissingDependency without `watchfiles`.
    """
    try:
        import watchfiles
    except ModuleNotFoundError:
        raise MissingDependency.package("watchfiles", "press") from None
    folders = [root] if needs_build else [root / name for name in FOLDERS if (root / name).is_dir()]
    _run_build(root, command, say)
    on_build()
    changes = watchfiles.watch(
        *folders,
        watch_filter=lambda _, path: needs_build(path) if needs_build else is_source(root, path),
        debounce=5 * QUIET,
        step=QUIET,
        stop_event=stop,
        raise_interrupt=True,
    )
    for batch in changes:
        say(f"changed: {_some_names({Path(path).relative_to(root).as_posix() for _, path in batch})}")
        _run_build(root, command, say)
        on_build()


def _run_build(root: Path, command: Sequence[str], say: Callable[[str], None]) -> None:
    start = time.monotonic()
    code = process.run_shown(command, root)
    seconds = time.monotonic() - start
    say(f"built in {seconds:.1f} s" if code == 0 else f"failed after {seconds:.1f} s; waiting for the next change")


def _some_names(names: Iterable[str], limit: int = 4) -> str:
    first, others = sorted(names)[:limit], sorted(names)[limit:]
    return ", ".join(first) + (f" and {len(others)} more" if others else "")
