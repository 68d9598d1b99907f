"""Write the engine as a wheel beside a paper, so that the paper can be built without a package index."""

import base64
import hashlib
import io
import zipfile
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.store.files import write

FOLDER = "vendor"
TIME = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip file, so that equal wheels have equal bytes
_METADATA_FILES = ("METADATA", "entry_points.txt", "licenses/LICENSE")
_WHEEL = "Wheel-Version: 1.0\nGenerator: boundpaper\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheels(folder: Path, packages: tuple[str, ...]) -> list[Path]:
    """Write wheels of installed packages to `vendor/` of a paper; return their paths.

    A wheel is assembled from the installed package, even an editable one, without network or build tool; its bytes are
    the same each time. `packages` are names of installed packages with one module each, such as `boundpaper`. Raises
    SpecError when a package is not installed, or its metadata has another version than its code.
    """
    wheels = []
    for name in packages:
        try:
            dist = distribution(name)
        except PackageNotFoundError:
            raise SpecError(f"{name} is not installed; install it: pip install -e packages/{name}") from None
        if (version := import_module(name).__version__) != dist.version:
            raise SpecError(f"{name} is {version}, but its metadata says {dist.version}; install it again, then retry")
        path = folder / FOLDER / f"{name}-{dist.version}-py3-none-any.whl"
        write(path, _wheel_content(name, dist))
        wheels.append(path)
    return wheels


def _wheel_content(name: str, dist: Distribution) -> bytes:
    package = Path(import_module(name).__path__[0])
    dist_info = f"{name}-{dist.version}.dist-info"
    contents = {
        f"{name}/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".nbi", ".nbc")
    }
    contents |= {
        f"{dist_info}/{file}": text.encode() for file in _METADATA_FILES if (text := dist.read_text(file)) is not None
    }
    contents[f"{dist_info}/WHEEL"] = _WHEEL.encode()
    contents[f"{dist_info}/RECORD"] = _record_file(contents, f"{dist_info}/RECORD").encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in contents.items():
            entry = zipfile.ZipInfo(file, TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _record_file(contents: dict[str, bytes], record_path: str) -> str:
    """Return the RECORD of a wheel: its files with their hashes, as PEP 427 requires."""
    lines = []
    for file, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{file},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{record_path},,", ""])
