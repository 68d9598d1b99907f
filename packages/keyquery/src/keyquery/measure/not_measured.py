"""Report what was not measured, and keep what was measured."""

import traceback
from collections.abc import Sequence
from pathlib import Path

from boundpaper.errors import ModelError, ThesisError
from boundpaper.store.files import FULL, no_room_message

HOMES = (("keyquery", "experiments"), ("analysis", "experiments"))  # where experiments are


class NotAllMeasured(ModelError):
    """Some experiments or models were not measured; `paths` are the tables of the others."""

    def __init__(self, message: str, paths: Sequence[Path] = ()) -> None:
        super().__init__(message)
        self.paths = tuple(paths)


def measured_before(error: Exception) -> tuple[Path, ...]:
    """Return the tables that were written in spite of an error."""
    return error.paths if isinstance(error, NotAllMeasured) else ()


def as_project_error(error: Exception) -> ThesisError:
    """Return a project error, which ends only the current experiment, for any exception, which is its cause."""
    if isinstance(error, ThesisError):
        return error
    if isinstance(error, OSError) and error.errno in FULL:
        return ModelError(no_room_message(error))
    message = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    experiment_frames = [frame for frame in frames if Path(frame.filename).parent.parts[-2:] in HOMES]
    place = (experiment_frames or frames)[-1]
    file = Path(*Path(place.filename).parts[-3:]) if experiment_frames else Path(place.filename).name
    model_error = ModelError(f"{type(error).__name__}: {message} ({file}:{place.lineno})")
    model_error.__cause__ = error
    return model_error
