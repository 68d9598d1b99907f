"""Show the progress of a long command on a terminal, as one line with rate and time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keyquery.jobs import JobProgress


class Bar:
    """A progress bar on standard error; without `progress` (a `rich` progress), only lines of text are printed."""

    def __init__(self, progress: Any = None) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, rate="", left="") if progress is not None else None

    def update(self, done: int, total: int | None, rate: str = "", seconds_left: float | None = None) -> None:
        """Show the progress, the rate and the estimated time left."""
        if self._progress is not None:
            time_left = f"{duration(seconds_left)} left" if seconds_left is not None else ""
            self._progress.update(self._task, completed=done, total=total, rate=rate, left=time_left)

    def follow(self, state: JobProgress) -> None:
        """Print the event of `state`, and show the progress of all jobs and the latest report of each."""
        if state.event:
            self.say(state.event)
        reports = "; ".join(f"{name}: {text}" for name, text in state.reports.items())
        self.update(state.kept + state.done, state.total, reports, state.seconds_left)

    def say(self, text: str) -> None:
        """Print a line of text: above the bar, or to standard error if no bar is shown."""
        if self._progress is not None:
            self._progress.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def open_bar(label: str) -> Iterator[Bar]:
    """Open a bar, which is shown only on a terminal; `label` names the counted things."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)


def duration(seconds: float) -> str:
    """Return a number of seconds as short text: `50 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
