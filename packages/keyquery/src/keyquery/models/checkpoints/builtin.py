"""Find models by name: small ones shipped with the project, and trained ones in installed packages."""

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
    """Resolve a name for `ModelSource`: a known model or GGUF file becomes its folder; a folder or Hub id stays.

    Raises ModelError when a built-in model has not been trained, a GGUF file cannot be read, or a name is neither known
    nor a folder; MissingDependency when a packaged model is not installed.
    """
    if name in NAMES:
        place = builtin_folder(root, name)
        if not (place / "config.json").is_file():
            raise ModelError(f"{name}: not in {FOLDER}; write it there: python build.py lab population --export")
        return str(place)
    if name in PACKAGES:
        return str(from_package(root, name))
    path = Path(name).expanduser()
    if name.lower().endswith(".gguf") or (path.is_file() and _is_gguf(path)):
        return str(from_file(root, path))
    if path.is_file():
        mend = "give the folder that it lies in" if path.suffix == ".safetensors" else "texts go to --texts"
        raise ModelError(f"{name}: is a file, not a model; a model is a folder, a GGUF file or a Hub id; {mend}")
    if name.startswith((".", "/", "~")) and not path.is_dir():
        siblings = [str(each) for each in path.parent.glob("*") if each.is_dir()]
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
