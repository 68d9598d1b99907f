"""The crate: data package, results, ledger, PDF and site as an RO-Crate, a folder that an archive takes as it is.

Nothing is sent anywhere. Two crates of the same project are the same files.
"""

from __future__ import annotations

import hashlib
import io
import json
import mimetypes
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from artifacts.errors import MissingDependency, SpecError
from artifacts.store.descriptor import package, standard
from artifacts.store.files import write
from artifacts.store.text_file import text_of, yaml_of
from paper import metadata
from paper.edition import read as edition_of
from paper.tex import latex

CITATION = "CITATION.cff"
NOBODY = "Nobody yet"  # the author of the frame of a new paper
PROFILE = "1.2"
SUMS = "checksums-sha256.txt"
TYPES = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".bib": "application/x-bibtex",
    ".md": "text/markdown",
}
LEDGER = "artifacts/results/claims.csv"
PACKAGE = "artifacts/datapackage.json"
PACKAGE_WORDS = "Data Package: fields, units, keys and origins of every table, each schema in full"
PARTS = (  # what goes in, and what it is
    ("artifacts/sources/*.csv", "Transcribed and published values, as printed"),
    ("artifacts/measurements/*/*", "Measurements, each with the manifest that says how it was made"),
    ("artifacts/results/*.csv", "Results, computed by the studies"),
    ("out/thesis.pdf", "The thesis"),
    ("out/site/**/*", "The site"),
    ("LICENSE", "Licence of code and text"),
    (CITATION, "How to cite this work"),
    ("README.md", "What the project is and how it is built"),
)


@dataclass(frozen=True)
class Part:
    """A file of the crate: where it comes from or what it holds, where it lies there, and what it is."""

    source: Path | bytes
    name: str
    words: str

    @property
    def content(self) -> bytes:
        """What it holds."""
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()


def parts(root: Path) -> Iterator[Part]:
    """The files of a project's crate: its data package in full, then the others, sorted within each room."""
    described = json.dumps(standard(root), ensure_ascii=False, allow_nan=False, indent=1)
    yield Part(f"{described}\n".encode(), PACKAGE, PACKAGE_WORDS)
    for pattern, words in PARTS:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if path.is_file() and not any(each.startswith((".", "_")) for each in Path(name).parts):
                told = "The claims ledger: every statement with its verdict and reason" if name == LEDGER else words
                yield Part(path, name.removeprefix("out/"), told)


def lay_out(root: Path, folder: Path) -> int:
    """Write the crate of a project to `folder`, which is emptied first; return the number of its files.

    Raises
    ------
    SpecError
        The thesis has not been built, or there is no licence or citation to go with it.
    MissingDependency
        Without `rocrate`.
    """
    for needed, made in (
        ("out/thesis.pdf", "run `python build.py paper` first"),
        ("LICENSE", "write there under which licence others may use text and data"),
    ):
        if not (root / needed).is_file():
            raise SpecError(f"{needed}: not there; {made}")
    try:
        from rocrate.rocrate import ROCrate
    except ModuleNotFoundError:
        raise MissingDependency.package("rocrate", "press") from None
    described, edition = metadata.read(root), edition_of(root)
    cited = citation(root)
    if NOBODY in [each.get("name") for each in cited.get("authors") or [{"name": described.author}]]:
        raise SpecError(f"{CITATION}: its author is {NOBODY!r}; say there whom to cite (and in paper/metadata.yaml)")
    when = datetime.fromtimestamp(edition.time or int(latex.EPOCH), UTC).date().isoformat()
    shutil.rmtree(folder, ignore_errors=True)
    crate = ROCrate(version=PROFILE)
    crate.name = described.title
    crate.description = str(package(root).get("description") or described.title)
    crate.datePublished = datetime.fromisoformat(when)
    crate.keywords = list(described.keywords)
    crate.license = _licence(crate, cited.get("license", ""))
    authors = cited.get("authors") or ([{"family-names": described.author}] if described.author else [])
    crate.creator = [_person(crate, number, each) for number, each in enumerate(authors, 1)]
    if cited.get("version"):
        crate.root_dataset["version"] = str(cited["version"])
    if edition.commit:
        crate.root_dataset["identifier"] = f"artifacts at {edition.words}"
    sums = []
    for part in parts(root):
        content = part.content
        digest = hashlib.sha256(content).hexdigest()
        sums.append(f"{digest}  {part.name}\n")
        source = io.BytesIO(content) if isinstance(part.source, bytes) else part.source
        crate.add_file(source, part.name, properties=_described(part, content, digest))
    crate.write(folder)
    write(folder / SUMS, "".join(sorted(sums, key=lambda line: line[66:])).encode())
    file = folder / "ro-crate-metadata.json"
    write(file, (json.dumps(_canonical(json.loads(file.read_text(encoding="utf-8")), when), indent=1) + "\n").encode())
    return sum(1 for path in folder.rglob("*") if path.is_file())


def citation(root: Path) -> dict[str, Any]:
    """What `CITATION.cff` says; empty where there is none."""
    try:
        content = yaml_of(root, CITATION, SpecError)
    except FileNotFoundError:
        return {}
    return content if isinstance(content, dict) else {}


def version(root: Path) -> str:
    """The project's version, as `pyproject.toml` has it."""
    import tomllib

    return str(tomllib.loads(text_of(root, "pyproject.toml", SpecError))["project"]["version"])


def _described(part: Part, content: bytes, found: str) -> dict[str, Any]:
    kind = TYPES.get(Path(part.name).suffix) or mimetypes.guess_type(part.name)[0] or "text/plain"
    return {
        "name": part.name.rpartition("/")[2],
        "description": part.words,
        "encodingFormat": kind,
        "contentSize": str(len(content)),
        "sha256": found,
    }


def _licence(crate: Any, name: str) -> Any:
    from rocrate.model.contextentity import ContextEntity

    address = f"https://spdx.org/licenses/{name}" if name else "#licence"
    words = {"@type": "CreativeWork", "name": name or "see LICENSE", "description": "Code and text; values are facts."}
    return crate.add(ContextEntity(crate, address, properties=words))


def _person(crate: Any, number: int, told: dict[str, Any]) -> Any:
    from rocrate.model.contextentity import ContextEntity

    given = " ".join(str(told[each]) for each in ("given-names", "family-names") if told.get(each))
    kind = "Person" if given else "Organization"
    name = given or str(told.get("name", "unnamed"))
    return crate.add(ContextEntity(crate, str(told.get("orcid") or f"#author-{number}"), {"@type": kind, "name": name}))


def _canonical(found: dict[str, Any], when: str) -> dict[str, Any]:
    """The description in one order, and without the time of its making."""
    for entity in found["@graph"]:
        if entity["@id"] == "./":
            entity["datePublished"] = when
            entity["hasPart"] = sorted(entity["hasPart"], key=lambda part: str(part["@id"]))
    found["@graph"].sort(
        key=lambda entity: (entity["@id"] != "ro-crate-metadata.json", entity["@id"] != "./", entity["@id"])
    )
    return found
