"""Run a step: call its builder, and add file and line to an error."""

import re
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from boundpaper.build.facts import function_named
from boundpaper.build.job import Job
from boundpaper.build.state import is_writable
from boundpaper.errors import MissingDependency, SpecError, ThesisError
from boundpaper.places import package_folders

Contents = dict[str, str | bytes]


@dataclass(frozen=True)
class StepOutput:
    """The output of a step: contents by path, the notes of its builder, and the seconds it took."""

    contents: Contents
    notes: list[str]
    seconds: float


def run_builder(job: Job, builder: str, targets: Sequence[str]) -> StepOutput:
    """Return the output of a step's builder.

    Raises ThesisError with file and line (`located_error`) for any error, and when the builder did not make all
    `targets` or made a file where steps may not write.
    """
    start = time.monotonic()
    notes: list[str] = []
    try:
        try:
            contents: Contents = function_named(builder)(replace(job, note=notes.append))
        except ThesisError as error:
            error.args = (f"{error}{job.artifact_with(str(error))}",)
            raise
        absent_paths = [path for path in targets if path not in contents]
        forbidden_paths = [path for path in contents if not is_writable(path)]
        if absent_paths or forbidden_paths:
            fault = f"made {forbidden_paths}, where steps may not write"
            fault = f"did not make {absent_paths}" if absent_paths else fault
            raise SpecError(f"the builder of {job.kind}:{job.name} {fault}; see boundpaper/build/kinds.py")
    except ThesisError as error:
        located_error(job, error)
        raise
    except Exception as error:
        raise located_error(job, error) from error
    finally:
        sys.stdout.flush()  # another process may be killed without a message
    return StepOutput(contents, notes, time.monotonic() - start)


def located_error(job: Job, error: Exception) -> ThesisError:
    """Convert a step's error to a ThesisError, and add the step's file to a message that names no file."""
    if isinstance(error, ModuleNotFoundError):
        return MissingDependency.package(error.name)
    if not isinstance(error, ThesisError):  # an error in a step's code, which the user must correct
        text = f"{type(error).__name__}: {error}{''.join(getattr(error, '__notes__', ()))}"
        return SpecError(f"{_error_location(job, error)}: {text}")
    is_project_file = job.file and not job.file.startswith(tuple(package_folders(job.root).values()))
    if is_project_file and job.file not in str(error) and not _begins_with_file(job.root, str(error)):
        error.args = (f"{_location_in_file(job, error) or job.file}: {error}",)
    return error


_PATH = re.compile(r"[\w.-]++(?:/[\w.-]++)++")


def _begins_with_file(root: Path, message: str) -> bool:
    """Return whether a message begins with the name of a project file."""
    path = _PATH.match(message)
    return path is not None and (root / path[0]).is_file()


def _error_location(job: Job, error: BaseException) -> str:
    """Return `file:line` of the deepest frame in the step's file, or else of the step and the deepest project frame."""
    if location := _location_in_file(job, error):
        return location
    frames = [f"{file}:{line}" for file, line in _project_frames(job, error)]
    return ": ".join([*([f"{job.file}:{job.line}"] if job.file else []), *frames[-1:]])


def _location_in_file(job: Job, error: BaseException) -> str:
    """Return `file:line` of the deepest frame in the step's file; empty if there is none."""
    lines = [line for file, line in _project_frames(job, error) if file == job.file]
    return f"{job.file}:{lines[-1]}" if lines else ""


def _project_frames(job: Job, error: BaseException) -> list[tuple[str, int | None]]:
    """Return file (relative to the project) and line of each traceback frame in the project."""
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    roots = {job.root: None}
    if job.file and not Path(job.file).is_absolute():  # links lead to another root if the project is built in a copy
        roots[(job.root / job.file).resolve().parents[len(Path(job.file).parts) - 1]] = None
    return [
        (path.relative_to(root).as_posix(), line)
        for path, line in frames
        for root in roots
        if path.is_relative_to(root)
    ]
