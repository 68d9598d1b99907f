"""Write a page for each artifact: its content, its origin, its history, and the nodes that depend on it."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from boundpaper.build.outline import Node
from boundpaper.paper.site.grid import table_of_frame
from boundpaper.paper.site.history import Revision, shallow_note
from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import PLACES, SiteProject
from boundpaper.paper.site.walk import NAMES, neighbours
from boundpaper.paper.site.works import work_link
from boundpaper.store.descriptor import files
from boundpaper.store.reader import read
from boundpaper.typeset import addresses


def artifact_pages(
    project: SiteProject,
    keys: Iterable[str],
    printed: Mapping[str, Collection[tuple[int, str]]],
    revisions: Mapping[str, tuple[Revision, ...]] | str,
) -> Iterator[tuple[str, bytes]]:
    """Yield `artifact/NAME.html` of each artifact that the steps `keys` make, and the tables as files below `data/`.

    `printed` has the cells that chapters print, as (row, column) by artifact; these cells have an HTML id. `revisions`
    are those of each result, or a sentence that says why there are none.
    """
    note = shallow_note(project.root)
    for node in (project.outline.nodes[key] for key in keys):
        history: tuple[Revision, ...] | str = ()
        if node.kind not in ("source", "measurement"):
            history = revisions if isinstance(revisions, str) else revisions.get(node.name, ())
        yield from _artifact_page(project, node, history, note, printed.get(node.name, ()))


def artifact_list(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield the list `artifacts.html`."""
    nodes = [node for node in project.nodes if node.makes]
    kinds = list(NAMES)
    nodes.sort(key=lambda node: (kinds.index(node.kind), node.name))
    titles = [str(project.descriptions.get(node.name, {}).get("title", node.doc)) for node in nodes]
    values = {"artifacts": list(zip(nodes, titles, strict=True)), "project": project}
    yield "artifacts.html", page("artifacts.html.j2", "artifacts.html", title="Artifacts", **values)


def _artifact_page(
    project: SiteProject,
    node: Node,
    history: tuple[Revision, ...] | str,
    note: str,
    printed: Collection[tuple[int, str]],
) -> Iterator[tuple[str, bytes]]:
    path = addresses.artifact(node.name)
    description = project.descriptions.get(node.name, {})
    fields = description.get("schema", {}).get("fields", [])
    units = {field["name"]: f" ({field['unit']})" if field.get("unit") else "" for field in fields}
    titles = {field["name"]: f"{field.get('description', '')}{units[field['name']]}" for field in fields}
    artifact_files = [(file.removeprefix("artifacts/"), project.root / file) for file in files(project.root, node.name)]
    for name, file in artifact_files:
        yield f"data/{name}", file.read_bytes()
    frame = read(project.root, node.name) if artifact_files else None
    data = None if frame is None else table_of_frame(frame, titles, marked=printed)
    places: list[str] = []
    if frame is not None and node.name != PLACES and "source" in frame:
        places = [str(place) for place in frame["source"].dropna().unique()]
    work_keys = list(dict.fromkeys(project.work_of[place] for place in places if place in project.work_of))
    for key in work_keys:
        project.used.setdefault(key, set()).add(node.key)
    claims = [row for row in project.claims if node.name in row["inputs"]]
    values = {
        "node": node,
        "project": project,
        "description": description,
        "fields": fields,
        "data": data,
        "files": [name for name, _ in artifact_files],
        "origins": project.origins.get(node.name, ()),
        "works": [work_link(project.works[key], "../") for key in work_keys],
        "history": history,
        "history_note": note if node.kind not in ("source", "measurement") else "",
        "claims": claims,
        "addresses": addresses,
        **neighbours(project, node.key),
    }
    yield path, page("artifact.html.j2", path, title=f"{node.kind.capitalize()} {node.name}", **values)
