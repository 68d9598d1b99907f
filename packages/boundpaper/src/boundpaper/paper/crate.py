"""Write an RO-Crate for an archive: a folder with the data package and its tables, the ledger, the PDF and the site.

Of the artifacts, the crate contains only tables that the data package describes, and their manifests. Every table is
written as CSV, since data-package readers turn Parquet integers with empty cells into floats. Authors and licence come
from `paper/metadata.yaml`, else from `CITATION.cff`. Nothing is uploaded, and the same project gives the same crate.
"""

import hashlib
import io
import json
import mimetypes
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from boundpaper.errors import MissingDependency, SpecError
from boundpaper.paper import metadata
from boundpaper.paper.edition import read as edition_of
from boundpaper.paper.tex import latex
from boundpaper.store.descriptor import files, full_package, standard_package
from boundpaper.store.files import write
from boundpaper.store.paths import CSV, PARQUET
from boundpaper.store.project_file import described_project
from boundpaper.store.rules import anything, by_name, either, listed, mapping, number, require, text
from boundpaper.store.table_file import table_text
from boundpaper.store.text_file import yaml_of

CITATION = "CITATION.cff"
_TEXTS = listed(text)
_PERSON = (
    *("address", "affiliation", "alias", "city", "country", "email", "family-names", "fax", "given-names", "location"),
    *("name", "name-particle", "name-suffix", "orcid", "region", "tel", "website"),
)
_AUTHOR = mapping(  # keys of a person or an entity
    {
        **dict.fromkeys(_PERSON, text),
        "post-code": either(number, text),
        **dict.fromkeys(("date-start", "date-end"), anything),  # values that YAML parses as dates
    }
)
_CFF = mapping(  # the keys of https://citation-file-format.github.io, version 1.2.0
    {
        "authors": listed(_AUTHOR),
        "license": either(text, _TEXTS),
        "version": either(text, number),
        "keywords": _TEXTS,
        **dict.fromkeys(("abstract", "cff-version", "commit", "doi", "message", "title", "type", "url"), text),
        **dict.fromkeys(("license-url", "repository", "repository-artifact", "repository-code"), text),
        **dict.fromkeys(("contact", "identifiers", "references"), listed(by_name(anything))),
        "preferred-citation": by_name(anything),
        "date-released": anything,  # YAML may parse it as a date; a text is equally valid
    }
)
NOBODY = "Nobody yet"  # the author in a new paper, to be replaced
PROFILE = "1.2"
CHECKSUMS = "checksums-sha256.txt"
TYPES = {".csv": "text/csv", ".yaml": "application/yaml", ".bib": "application/x-bibtex", ".md": "text/markdown"}
LICENCE = "LICENSE"
LEDGER = "artifacts/results/claims.csv"
LEDGER_DESCRIPTION = "The claims ledger: every statement with its verdict and reason"
PACKAGE = "artifacts/datapackage.json"
PACKAGE_DESCRIPTION = "Data Package: fields, units, keys and origins of every table, each schema in full"
FOLDERS = {  # folders of tables below `artifacts`, with descriptions
    "sources": "Transcribed and published values, as printed",
    "measurements": "Measurements, each with a manifest that says how it was made",
    "results": "Results, computed by the studies",
}
OTHER_FILES = (  # patterns of files that are no artifacts, with descriptions
    ("out/thesis.pdf", "The thesis"),
    ("out/site/**/*", "The site"),
    (LICENCE, "Licence of text and data"),
    (CITATION, "How to cite this work"),
    ("README.md", "What the project is and how it is built"),
)
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


@dataclass(frozen=True)
class CrateFile:
    """A file of the crate: the source file or content, the path in the crate, and a description."""

    source: Path | bytes
    name: str
    description: str

    @property
    def content(self) -> bytes:
        """Return the content of the file; a table in Parquet is returned as CSV."""
        if isinstance(self.source, bytes):
            return self.source
        return table_text(self.source).encode() if self.source.suffix == PARQUET else self.source.read_bytes()


def crate_files(root: Path) -> Iterator[CrateFile]:
    """Yield the files of a project's crate: artifacts, then other files, sorted within each folder.

    Raises SpecError when a file is a link, which might point outside the project.
    """
    yield from data_package_files(root)
    for pattern, description in OTHER_FILES:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if path.is_file() and not any(part.startswith((".", "_")) for part in Path(name).parts):
                yield CrateFile(_refuse_link(root, path), name.removeprefix("out/"), description)


def data_package_files(root: Path) -> Iterator[CrateFile]:
    """Yield the descriptor of the data package, with size and hash of every table, then the tables and manifests."""
    tables = list(_described_tables(root))
    contents = {file.name.removeprefix("artifacts/"): file.content for file in tables if file.name.endswith(CSV)}
    package = standard_package(root)
    for resource in package["resources"]:
        content = contents[resource["path"]]
        resource |= {"bytes": len(content), "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
    descriptor = f"{json.dumps(package, ensure_ascii=False, allow_nan=False, indent=1)}\n".encode()
    yield CrateFile(descriptor, PACKAGE, PACKAGE_DESCRIPTION)
    yield from tables


def _described_tables(root: Path) -> Iterator[CrateFile]:
    """Yield every table that the data package describes, and the manifests beside measurements."""
    for file in sorted(_table_paths(root)):
        path, name = root / file, Path(file).with_suffix(CSV).as_posix()
        description = LEDGER_DESCRIPTION if file == LEDGER else FOLDERS[Path(file).parts[1]]
        yield CrateFile(_refuse_link(root, path), name, description)
        manifest = path.with_suffix(".json")
        if manifest.is_file():
            yield CrateFile(_refuse_link(root, manifest), manifest.relative_to(root).as_posix(), description)


def _table_paths(root: Path) -> Iterator[str]:
    return (path for resource in full_package(root)["resources"] for path in files(root, resource["name"]))


def _refuse_link(root: Path, path: Path) -> Path:
    if path.resolve() != root.resolve() / path.relative_to(root):
        raise SpecError(f"{path.relative_to(root)}: is a link, or inside a linked folder; put the file itself there")
    return path


def files_left_out(root: Path) -> list[str]:
    """Return the sorted files in `FOLDERS` that are neither described tables nor manifests; a crate omits them."""
    included = set(_table_paths(root))
    included |= {Path(file).with_suffix(".json").as_posix() for file in included if "/measurements/" in file}
    paths = (path for folder in FOLDERS for path in (root / "artifacts" / folder).rglob("*") if not path.is_dir())
    return sorted({path.relative_to(root).as_posix() for path in paths} - included)


def lay_out(root: Path, folder: Path) -> int:
    """Write the crate of a project to `folder`, which is emptied first; return the number of files.

    Raises SpecError when the thesis has not been built, or author or licence is missing; MissingDependency without
    `rocrate`.
    """
    if not (root / "out/thesis.pdf").is_file():
        raise SpecError("out/thesis.pdf: no such file; run `python build.py paper` first")
    _require_licence(root)
    try:
        from rocrate.model.contextentity import ContextEntity
        from rocrate.rocrate import ROCrate
    except ModuleNotFoundError:
        raise MissingDependency.package("rocrate", "press") from None
    paper, edition = metadata.read(root), edition_of(root)
    cff = citation(root)
    if NOBODY in [author.get("name") for author in cff.get("authors", [])]:
        raise SpecError(f"{CITATION}: its author is {NOBODY!r}; write the authors there and in {metadata.FILE}")
    date = datetime.fromtimestamp(edition.time or int(latex.EPOCH), UTC).date().isoformat()
    shutil.rmtree(folder, ignore_errors=True)
    crate = ROCrate(version=PROFILE)
    crate.name = paper.title
    crate.description = str(full_package(root).get("description") or paper.title)
    crate.datePublished = datetime.fromisoformat(date)
    crate.keywords = list(paper.keywords)
    crate.license = _licence_entity(crate, paper.licence, _only_licence(cff.get("license", "")))
    people = authors(root, paper)
    creators = [_author_entity(crate, number, person) for number, person in enumerate(people, 1)]
    crate.creator = creators[0] if len(creators) == 1 else creators
    ror = next((person.ror for person in people if person.ror and person.affiliation == paper.publisher), None)
    organisation = {"@type": "Organization", "name": paper.publisher, **({"url": ror} if ror else {})}
    publisher = paper.publisher and crate.add(ContextEntity(crate, ror or "#publisher", properties=organisation))
    crate.publisher = publisher or creators[0]
    if paper_version := paper.version or str(cff.get("version", "")):
        crate.root_dataset["version"] = paper_version
    if identifier := _identifier_entity(crate, paper.identifier, edition.words):
        crate.root_dataset["identifier"] = identifier
    digests: dict[str, str] = {}
    for file in crate_files(root):
        content = file.content
        digests[file.name] = hashlib.sha256(content).hexdigest()
        crate.add_file(io.BytesIO(content), file.name, properties=_file_entity(file, content, digests[file.name]))
    crate.write(folder)
    write(folder / CHECKSUMS, "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode())
    path = folder / "ro-crate-metadata.json"
    description = _canonical(json.loads(path.read_text(encoding="utf-8")), date)
    write(path, (json.dumps(description, indent=1) + "\n").encode())
    return sum(1 for path in folder.rglob("*") if path.is_file())


def _require_licence(root: Path) -> None:
    """Raise SpecError if the project has no licence text."""
    try:
        if (root / LICENCE).read_bytes().strip():
            return
        fault = "is empty"
    except FileNotFoundError:
        fault = "is missing"
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    raise SpecError(
        f"{LICENCE}: {fault}; write how others may use text and data; one line is enough, as this command writes it:\n"
        f"printf 'Text and data: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/\\n' > {LICENCE}"
    )


def citation(root: Path) -> dict[str, Any]:
    """Return the content of `CITATION.cff`; empty if there is no file.

    Raises SpecError when the file is not YAML, or has keys that the format does not define.
    """
    try:
        content = yaml_of(root, CITATION, SpecError)
    except FileNotFoundError:
        return {}
    require(content, _CFF, CITATION, SpecError)
    return dict(content)


def cited_authors(root: Path) -> str:
    """Return the names of the authors in `CITATION.cff`, separated by commas; empty if it names nobody."""
    people = map(_cited_author, citation(root).get("authors", []))
    return ", ".join(person.name for person in people if person.name)


def version(root: Path) -> str:
    """Return the project's version from `pyproject.toml`."""
    return str(described_project(root)["project"]["version"])


def _file_entity(file: CrateFile, content: bytes, digest: str) -> dict[str, Any]:
    media_type = TYPES.get(Path(file.name).suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
    return {
        "name": file.name.rpartition("/")[2],
        "description": file.description,
        "encodingFormat": media_type,
        "contentSize": str(len(content)),
        "sha256": digest,
    }


def authors(root: Path, paper: metadata.Metadata) -> tuple[metadata.Author, ...]:
    """Return the authors in the paper's metadata, else those in `CITATION.cff`.

    Raises SpecError when neither names anybody.
    """
    people = paper.authors or map(_cited_author, citation(root).get("authors", []))
    named_people = tuple(person for person in people if person.name and person.name != NOBODY)
    if not named_people:
        raise SpecError(f"{metadata.FILE}: `author` names nobody; name the author before publishing")
    return named_people


def _cited_author(author: dict[str, Any]) -> metadata.Author:
    """Return an author of `CITATION.cff`: a person with first and family name, or an entity with its name."""
    full_name = " ".join(str(author[key]) for key in ("given-names", "family-names") if author.get(key))
    attributes = {"affiliation": "affiliation", "email": "email", "website": "url", "orcid": "orcid"}
    details = {name: str(author[key]) for key, name in attributes.items() if author.get(key)}
    return metadata.Author(full_name or str(author.get("name", "")), **details, is_person=bool(full_name))


def _licence_entity(crate: Any, description: str, cited_licence: str) -> Any:
    """Return the licence as an entity, with its SPDX name if the paper or `CITATION.cff` gives one."""
    from rocrate.model.contextentity import ContextEntity

    name = description if _SPDX.fullmatch(description) else cited_licence
    address = f"https://spdx.org/licenses/{name}" if name else "#licence"
    description = description or "Of text and data."
    properties = {"@type": "CreativeWork", "name": name or "see LICENSE", "description": description}
    return crate.add(ContextEntity(crate, address, properties=properties))


def _only_licence(licence: str | list[str]) -> str:
    """Return the name of the licence if there is exactly one, else an empty text."""
    return licence if isinstance(licence, str) else licence[0] if len(licence) == 1 else ""


def _author_entity(crate: Any, number: int, author: metadata.Author) -> Any:
    from rocrate.model.contextentity import ContextEntity

    properties: dict[str, Any] = {"@type": "Person" if author.is_person else "Organization", "name": author.name}
    if author.affiliation:
        identifier = author.ror or f"#organisation-{number}"
        address = {"url": author.ror} if author.ror else {}
        organisation = {"@type": "Organization", "name": author.affiliation, **address}
        properties["affiliation"] = {"@id": crate.add(ContextEntity(crate, identifier, properties=organisation)).id}
    properties |= {key: value for key, value in (("email", author.email), ("url", author.url)) if value}
    if author.email:
        contact_point = {"@type": "ContactPoint", "name": f"Contact of {author.name}", "email": author.email}
        contact_point["contactType"] = "author"
        contact = crate.add(ContextEntity(crate, f"mailto:{author.email}", properties=contact_point))
        properties["contactPoint"] = {"@id": contact.id}
    return crate.add(ContextEntity(crate, author.orcid or f"#author-{number}", properties=properties))


def _identifier_entity(crate: Any, address: str, edition: str) -> Any:
    """Return the paper's identifier as an entity: its DOI or address, else the commit of its artifacts, else None."""
    from rocrate.model.contextentity import ContextEntity

    doi = re.sub(r"^(doi:|https?://(dx\.)?doi\.org/)", "", address)
    if doi != address or address.startswith("10."):
        properties = {"propertyID": "https://registry.identifiers.org/registry/doi", "value": f"doi:{doi}"}
        properties["url"] = f"https://doi.org/{doi}"
    elif address:
        properties = {"propertyID": "URL", "value": address, "url": address}
    elif edition:
        properties = {"propertyID": "commit", "value": f"artifacts at {edition}"}
    else:
        return None
    properties = {"@type": "PropertyValue", "name": properties["value"], **properties}
    return crate.add(ContextEntity(crate, "#identifier", properties=properties))


def _canonical(description: dict[str, Any], date: str) -> dict[str, Any]:
    """Return the description of a crate in a fixed order, with `date` instead of the time of creation."""
    for entity in description["@graph"]:
        if entity["@id"] == "./":
            entity["datePublished"] = date
            entity["hasPart"] = sorted(entity["hasPart"], key=lambda part: str(part["@id"]))
    description["@graph"].sort(
        key=lambda entity: (entity["@id"] != "ro-crate-metadata.json", entity["@id"] != "./", entity["@id"])
    )
    return description
