"""Write the pages of artifacts: content, origin, and the nodes that depend on each."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from boundpaper.build.outline import Node
from boundpaper.paper.site.grid import table_of_frame
from boundpaper.paper.site.history import Revision, histories, shallow_note
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject, artifact_rows
from boundpaper.paper.site.walk import NAMES, ORDER, neighbours
from boundpaper.paper.site.works import work_link
from boundpaper.store.descriptor import files, resource
from boundpaper.store.reader import read
from boundpaper.typeset import addresses

PLACES = "places"


def artifact_pages(
    project: SiteProject, printed: Mapping[str, Collection[tuple[int, str]]]
) -> Iterator[tuple[str, bytes]]:
    """Yield `artifact/NAME.html`, the tables as files below `data/`, and the list `artifacts.html`.

    `printed` has the cells that chapters print, as (row, column) by artifact; on the pages these have an HTML id.
    """
    origins: dict[str, list[Mapping[str, Any]]] = {}
    if "provenance" in project.outline.maker:
        for row in artifact_rows(project.root, "provenance"):
            origins.setdefault(row["artifact"], []).append(row)
    works = _works_by_place(project)
    past, missing = histories(project.root), shallow_note(project.root)
    listed: dict[str, list[tuple[Node, str]]] = {}
    for node in (node for node in project.nodes if node.makes):
        described = resource(project.root, node.name) or {}
        listed.setdefault(node.kind, []).append((node, str(described.get("title", node.doc))))
        yield from _artifact_page(
            project, node, described, origins.get(node.name, []), past, missing, works, printed.get(node.name, ())
        )
    groups = [(NAMES[kind], sorted(listed[kind], key=lambda item: item[0].name)) for kind in ORDER if kind in listed]
    values = {"groups": groups, "project": project}
    yield "artifacts.html", page("artifacts.html.j2", "artifacts.html", title="Artifacts", **values)


def _artifact_page(
    project: SiteProject,
    node: Node,
    described: Mapping[str, Any],
    origins: list[Mapping[str, Any]],
    past: Mapping[str, tuple[Revision, ...]] | str,
    missing: str,
    works: Mapping[str, str],
    shown: Collection[tuple[int, str]],
) -> Iterator[tuple[str, bytes]]:
    path = addresses.artifact(node.name)
    fields = described.get("schema", {}).get("fields", [])
    units = {field["name"]: f" ({field['unit']})" if field.get("unit") else "" for field in fields}
    means = {field["name"]: f"{field.get('description', '')}{units[field['name']]}" for field in fields}
    artifact_files = [(file.removeprefix("artifacts/"), project.root / file) for file in files(project.root, node.name)]
    for name, file in artifact_files:
        yield f"data/{name}", file.read_bytes()
    frame = read(project.root, node.name) if artifact_files else None
    data = None if frame is None else table_of_frame(frame, means, marked=shown)
    places: list[str] = []
    if frame is not None and node.name != PLACES and "source" in frame:
        places = [str(place) for place in frame["source"].dropna().unique()]
    printed = list(dict.fromkeys(works[place] for place in places if place in works))
    for key in printed:
        project.used.setdefault(key, []).append(node.key)
    history = (
        past if isinstance(past, str) else past.get(node.name, ()) if node.kind not in ("source", "measurement") else ()
    )
    claims = [row for row in project.claims if node.name in row["inputs"]]
    values = {
        "node": node,
        "project": project,
        "described": described,
        "fields": fields,
        "data": data,
        "held": [name for name, _ in artifact_files],
        "origins": origins,
        "printed": [work_link(project.works[key], "../") for key in printed],
        "history": history,
        "cut": missing if node.kind not in ("source", "measurement") else "",
        "claims": claims,
        "addresses": addresses,
        **neighbours(project, node.key),
    }
    yield path, page("artifact.html.j2", path, title=f"{node.kind.capitalize()} {node.name}", **values)


def _works_by_place(project: SiteProject) -> dict[str, str]:
    """Return the key of the work that contains each place cited by sources."""
    if PLACES not in project.outline.maker:
        return {}
    rows = artifact_rows(project.root, PLACES)
    return {row["source"]: row["citation"] for row in rows if row["citation"] in project.works}
