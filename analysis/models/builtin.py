"""Models that ship with the project, by name."""

from __future__ import annotations

import difflib
from pathlib import Path

from artifacts.errors import ModelError

NAMES = ("tiny-rope", "tiny-drope")
FOLDER = "artifacts/models"


def folder(root: Path, name: str) -> Path:
    """Where a built-in model lies, whether it is there or not."""
    return root / FOLDER / name


def resolve(root: Path, name: str) -> str:
    """A name as `ModelSource` takes it: a built-in model becomes its folder, a folder or Hub id stays.

    Raises
    ------
    ModelError
        When a built-in model has not been trained, or a bare name is neither built in nor a folder.
    """
    if name in NAMES:
        place = folder(root, name)
        if not (place / "config.json").is_file():
            raise ModelError(f"{name}: not in {FOLDER} yet; train the pair: python build.py lab train")
        return str(place)
    if "/" in name or name.startswith((".", "~")) or Path(name).is_dir():
        return str(Path(name).expanduser()) if name.startswith("~") else name
    near = difflib.get_close_matches(name, NAMES, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise ModelError(
        f"{name!r} is no folder and not built in ({', '.join(NAMES)}); {hint}a Hub model has its owner in front, "
        "as owner/name"
    )
