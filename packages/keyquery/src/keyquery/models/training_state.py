"""Write the state of a training run to one file, atomically, and read it again."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boundpaper.errors import ModelError
from boundpaper.store.cached_files import hash_bytes
from boundpaper.store.files import write
from keyquery.models import libraries

FILE = "checkpoint.pt"
FORMAT = 2  # number of the file's layout


def store_state(work: Path, state: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Write the state of a training run into the folder `work`.

    `settings` are all values that determine the training, such as seed, recipe and threads. A resumed run must have the
    same settings.
    """
    torch = libraries.torch
    content = io.BytesIO()
    torch.save({"format": FORMAT, "made": dict(settings), "state": dict(state)}, content)
    write(work / FILE, hash_bytes(content.getvalue()) + b"\n" + content.getvalue())


def fetch_state(work: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the state that `store_state` wrote, or None if there is no file.

    Raises ModelError if the file is damaged, or belongs to a run with other settings.
    """
    torch, path = libraries.torch, work / FILE
    if not path.is_file():
        return None
    advice = f"delete it and train from the start: rm {path}"
    digest, _, content = path.read_bytes().partition(b"\n")
    if digest != hash_bytes(content):
        raise ModelError(f"{path}: the checkpoint is damaged, or from another version of this project; {advice}")
    try:
        stored = torch.load(io.BytesIO(content), weights_only=True)
        layout, stored_settings, state = stored["format"], stored["made"], stored["state"]
    except Exception as error:  # torch may raise anything for a damaged file
        raise ModelError(f"{path}: the checkpoint is damaged ({type(error).__name__}); {advice}") from error
    if layout != FORMAT or not isinstance(state, dict):
        raise ModelError(f"{path}: a checkpoint from another version of this project; {advice}")
    if stored_settings != dict(settings):
        keys = {*stored_settings, *settings}
        changed_keys = sorted(key for key in keys if stored_settings.get(key) != settings.get(key))
        raise ModelError(f"{path}: belongs to a training with another {' and '.join(changed_keys)}; {advice}")
    return dict(state)


def drop_state(work: Path) -> None:
    """Remove the checkpoint of a training run that is finished or starts again."""
    (work / FILE).unlink(missing_ok=True)
