"""Define the error for experiments or models that were not measured."""

import traceback
from collections.abc import Sequence
from pathlib import Path

from boundpaper.errors import ModelError, ThesisError
from boundpaper.store.files import FULL, no_room_message

FOLDERS = (("keyquery", "experiments"), ("analysis", "experiments"))  # folders of experiments


class NotAllMeasured(ModelError):
    """Some experiments or models were not measured; `paths` are the tables that were written nevertheless."""

    def __init__(self, message: str, paths: Sequence[Path] = ()) -> None:
        super().__init__(message)
        self.paths = tuple(paths)


def written_tables(error: Exception) -> tuple[Path, ...]:
    """Return the tables that were written although an error was raised."""
    return error.paths if isinstance(error, NotAllMeasured) else ()


def as_project_error(error: Exception) -> ThesisError:
    """Return a project error for an exception, with the line of the experiment that raised it."""
    if isinstance(error, ThesisError):
        return error
    if isinstance(error, OSError) and error.errno in FULL:
        return ModelError(no_room_message(error))
    message = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    experiment_frames = [frame for frame in frames if Path(frame.filename).parent.parts[-2:] in FOLDERS]
    innermost = (experiment_frames or frames)[-1]
    file = Path(*Path(innermost.filename).parts[-3:]) if experiment_frames else Path(innermost.filename).name
    model_error = ModelError(f"{type(error).__name__}: {message} ({file}:{innermost.lineno})")
    model_error.__cause__ = error
    return model_error
