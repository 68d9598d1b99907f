"""Provide what the site's pages show of a project: its nodes and edges, chapters, and ledger rows with places."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from boundpaper.build.outline import Node, Outline
from boundpaper.errors import SpecError
from boundpaper.paper.calls import dependencies
from boundpaper.paper.lint import cited_keys
from boundpaper.paper.metadata import Metadata
from boundpaper.paper.metadata import read as read_metadata
from boundpaper.paper.site.works import CitedWork, cited_works
from boundpaper.places import shown_file
from boundpaper.store.descriptor import full_package
from boundpaper.store.documents import JudgedDocument, documents
from boundpaper.store.paper_vocabulary import metric_names, names_of
from boundpaper.store.paper_vocabulary import read as read_vocabulary
from boundpaper.store.reader import read
from boundpaper.store.text_file import text_of
from boundpaper.tables.build import table_of
from boundpaper.typeset import addresses
from boundpaper.typeset.wording import readable_text

if TYPE_CHECKING:
    from boundpaper.build.job import Job

Result = TypeVar("Result")
EXHIBITS = ("table", "figure")
PLACES = "places"
KINDS = {"table": "table", "figure": "figure"} | dict.fromkeys(("claim", "mark"), "claim")
KINDS |= dict.fromkeys(("n", "r", "use"), "number") | {"supplement": "supplement"}
"""The kind of thing that the first argument of each function in a template names (`boundpaper.paper.calls`)."""
_TITLE = re.compile(r"\\chapter\*?\{((?:[^{}]|\{[^{}]*\})*)\}")
_COMMAND = re.compile(r"\\(?:emph|textit|texorpdfstring)\{([^{}]*)\}(?:\{[^{}]*\})?")
_NAME = re.compile(r"(?<![\w/.-])\w[\w.-]*\w")  # a word that may be the name of a claim


@dataclass(frozen=True)
class Chapter:
    """A chapter: its title as plain text, and what its template shows, in order; `numbers` names artifacts it reads."""

    name: str
    title: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    numbers: tuple[str, ...]
    cites: tuple[str, ...]

    @property
    def uses(self) -> tuple[str, ...]:
        """Return the keys of the chapter's exhibits and claims."""
        claims = (f"claim:{name.partition('.')[0]}" for name in self.claims)
        tables, figures = (f"table:{name}" for name in self.tables), (f"figure:{name}" for name in self.figures)
        return tuple(dict.fromkeys([*tables, *figures, *claims]))


@dataclass(frozen=True)
class SiteProject:
    """The data from which the site's pages are made.

    `jobs` has the job of each exhibit by its key.
    """

    root: Path
    nodes: tuple[Node, ...]
    jobs: Mapping[str, Job]

    @cached_property
    def used(self) -> dict[str, set[str]]:
        """Return the exhibits and artifacts that cite each work, by its key; filled while the pages are made."""
        return {}

    @cached_property
    def _cache(self) -> dict[tuple[object, str], Any]:
        return {}

    def spec(self, key: str) -> Any:
        """Return the specification that an exhibit's function returns, checked as in a build."""
        return self.cached(_spec, self.outline.nodes[key])

    def cached(self, make: Callable[[SiteProject, Node], Result], node: Node) -> Result:
        """Return `make(self, node)`, cached by `make` and node."""
        key = (make, node.key)
        if key not in self._cache:
            self._cache[key] = make(self, node)
        result: Result = self._cache[key]
        return result

    @cached_property
    def metadata(self) -> Metadata:
        """Return the paper's metadata."""
        return read_metadata(self.root)

    @cached_property
    def documents(self) -> tuple[JudgedDocument, ...]:
        """Return the documents whose statements are judged, including `thesis`."""
        return documents(self.root)

    @cached_property
    def works(self) -> Mapping[str, CitedWork]:
        """Return the works of the bibliography by key."""
        return cited_works(self.root)

    def judges(self, document: str) -> bool:
        """Return whether the ledger has rows on a document."""
        return any(row["source"] == document for row in self.claims)

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """Return the chapters in the order of the thesis, then the templates that the thesis does not list."""
        nodes = {node.name: node for node in self.nodes if node.kind == "chapter"}
        order = dict.fromkeys(["abstract", *self.metadata.chapters, *self.metadata.appendices, *nodes])
        return tuple(_read_chapter(self.root, nodes[name]) for name in order if name in nodes)

    @cached_property
    def outline(self) -> Outline:
        """Return all nodes and edges; a chapter depends on what its template shows, and the ledger on all claims."""
        uses: dict[str, Iterable[str]] = {f"chapter:{chapter.name}": chapter.uses for chapter in self.chapters}
        claims = [node.key for node in self.nodes if node.kind == "claim"]
        uses |= {node.key: claims for node in self.nodes if node.kind == "ledger"}
        return Outline(self.nodes, uses)

    @cached_property
    def claims(self) -> tuple[Mapping[str, Any], ...]:
        """Return the ledger rows in order, each with its place, its function, and the chapters that print it."""
        if "claims" not in self.outline.maker:
            return ()
        chapters: dict[str, list[str]] = {}
        for chapter in self.chapters:
            for name in chapter.claims:
                chapters.setdefault(name, []).append(chapter.name)
        places = {row["claim"]: row for row in artifact_rows(self.root, "claim_places")}
        return tuple(
            {
                **places[row["claim"]],
                **row,
                **{field: reader_text(row[field], self.names, places) for field in ("statement", "reason")},
                "step": row["claim"].partition(".")[0],
                "inputs": tuple(filter(None, places[row["claim"]]["inputs"].split("; "))),
                "chapters": tuple(chapters.get(row["claim"], ())),
            }
            for row in artifact_rows(self.root, "claims")
        )

    @cached_property
    def rows(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the ledger rows by claim."""
        return {row["claim"]: row for row in self.claims}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Return printed names of metrics, and of keys in the tables that the vocabulary lists."""
        vocabulary = read_vocabulary(self.root)
        names: dict[str, str] = {}
        for table in vocabulary.named:
            if table.table in self.outline.maker:
                names |= names_of(artifact_rows(self.root, table.table), table)
        return names | metric_names(vocabulary)

    @cached_property
    def claims_of(self) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        """Return the ledger rows by the name of their function."""
        rows_by_function: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.claims:
            rows_by_function.setdefault(row["step"], []).append(row)
        return {name: tuple(rows) for name, rows in rows_by_function.items()}

    @cached_property
    def descriptions(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the descriptions of artifacts in the descriptor by name."""
        return {description["name"]: description for description in full_package(self.root)["resources"]}

    @cached_property
    def origins(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return the rows on the origin of each artifact by its name."""
        origins: dict[str, list[Mapping[str, Any]]] = {}
        for row in artifact_rows(self.root, "provenance") if "provenance" in self.outline.maker else ():
            origins.setdefault(row["artifact"], []).append(row)
        return origins

    @cached_property
    def work_of(self) -> Mapping[str, str]:
        """Return the key of the work that contains each place, by the place's name in the column `source` of tables."""
        rows = artifact_rows(self.root, PLACES) if PLACES in self.outline.maker else ()
        return {row["source"]: row["citation"] for row in rows if row["citation"] in self.works}

    def title(self, key: str) -> str:
        """Return the text of a link to a node: the title of a chapter, or the name of any other node."""
        node = self.outline.nodes[key]
        titles = {chapter.name: chapter.title for chapter in self.chapters}
        return titles[node.name] if node.kind == "chapter" else node.name

    def file(self, node: Node) -> str:
        """Return the path of a node's file in the form that readers see."""
        return shown_file(self.root, node.file)

    def address(self, key: str) -> str:
        """Return the address of a node's page, relative to the site's folder."""
        node = self.outline.nodes[key]
        if node.kind in EXHIBITS:
            return addresses.exhibit(node.kind, node.name)
        if node.kind == "chapter":
            return addresses.chapter(node.name)
        return addresses.claim(node.name) if node.kind == "claim" else addresses.artifact(node.name)


def _spec(project: SiteProject, node: Node) -> Any:
    job = project.jobs[node.key]
    return table_of(job) if node.kind == "table" else job.call()


def reader_text(text: str, names: Mapping[str, str], claims: Container[str]) -> str:
    """Return a text of the ledger with readable names in place of keys; names of claims stay unchanged."""
    pieces, begin = [], 0
    for match in _NAME.finditer(text):
        if match[0] in claims:
            pieces += [readable_text(text[begin : match.start()], names), match[0]]
            begin = match.end()
    return "".join([*pieces, readable_text(text[begin:], names)])


def artifact_rows(root: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of an artifact by column; an empty cell in a column of numbers is None."""
    frame = read(root, name).astype(object)
    records: Any = frame.where(frame.notna(), None).rename(columns=str).to_dict("records")
    return list(records)


def _read_chapter(root: Path, node: Node) -> Chapter:
    text = text_of(root, node.file, SpecError)
    calls: dict[str, list[str]] = {}
    for function, name, _ in dependencies(text, node.file):
        calls.setdefault(KINDS[function], []).append(name)
    heading = _TITLE.search(text)
    title = _COMMAND.sub(r"\1", heading[1]).replace("~", " ").replace("\\", "") if heading else node.name.capitalize()
    tables, figures, claims, numbers = (
        tuple(dict.fromkeys(calls.get(kind, ()))) for kind in ("table", "figure", "claim", "number")
    )
    return Chapter(node.name, title, tables, figures, claims, numbers, cited_keys(text))
