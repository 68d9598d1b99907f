"""Find models by name: small models shipped with the project, and trained models in installed packages."""

from pathlib import Path

from boundpaper.errors import ModelError
from boundpaper.suggestions import or_known, suggest
from keyquery.models.checkpoints.pretrained import PACKAGES, from_file, from_package

NAMES = ("tiny-rope", "tiny-continued", "tiny-drope")
FOLDER = Path(__file__).parents[2] / "tiny"


def builtin_folder(root: Path, name: str) -> Path:
    """Return the folder of a built-in model, whether it exists or not."""
    return FOLDER / name


def resolve(root: Path, name: str) -> str:
    """Return the name for `ModelSource`: the folder of a known model or GGUF file; `name` if it is a folder or Hub id.

    Raises ModelError when a built-in model has not been trained, a GGUF file cannot be read, or a name is neither known
    nor a folder, and MissingDependency when a packaged model is not installed.
    """
    if name in NAMES:
        folder = builtin_folder(root, name)
        if not (folder / "config.json").is_file():
            raise ModelError(f"{name}: not in {FOLDER}; write it there: python build.py lab population --export")
        return str(folder)
    if name in PACKAGES:
        return str(from_package(root, name))
    path = Path(name).expanduser()
    if name.lower().endswith(".gguf") or (path.is_file() and _is_gguf(path)):
        return str(from_file(root, path))
    if path.is_file():
        advice = "give the folder that it lies in" if path.suffix == ".safetensors" else "texts go to --texts"
        raise ModelError(f"{name}: is a file, not a model; a model is a folder, a GGUF file or a Hub id; {advice}")
    if name.startswith((".", "/", "~")) and not path.is_dir():
        siblings = [str(folder) for folder in path.parent.glob("*") if folder.is_dir()]
        raise ModelError(f"{name}: no such folder{or_known(path, siblings) if siblings else ''}")
    if "/" in name or Path(name).is_dir():
        return str(Path(name).expanduser()) if name.startswith("~") else name
    names = ", ".join((*NAMES, *PACKAGES))
    hint = suggest(name, (*NAMES, *PACKAGES))
    raise ModelError(
        f"{name!r} is neither a folder nor a known name ({names}); {hint}a Hub model is written owner/name"
    )


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"GGUF"
