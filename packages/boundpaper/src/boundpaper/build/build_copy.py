"""Rebuild a project's results in a copy, so that the committed results stay unchanged.

The copy, `out/aside`, links to the project's folders, but has its own results and its own `out`. The next rebuild uses
its files again, unless the project itself has been built since; then the copy is filled from the project.
"""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from boundpaper.build.closure import CODE_FOLDERS
from boundpaper.build.graph import Graph
from boundpaper.build.session import Session
from boundpaper.build.state import keep_steps
from boundpaper.store.files import digest, write

COPY = "out/aside"
RESULTS = "artifacts/results"
LINKED_FOLDERS = (*CODE_FOLDERS, "packages", "paper")
STATE = "out/state/state.json"
FACTS = "out/state/facts.json"
_SEED = "out/state/seed"  # the hash of the project's state from which the copy was filled


def steps_of_results(graph: Graph) -> list[str]:
    """Return the keys of steps that make results, without steps that gather claims if there are no claims."""
    has_claims = any(step.kind.name == "claim" for step in graph.steps.values())
    kinds = {"result", "ledger", "places", "inventory"} if has_claims else {"result"}
    return [key for key, step in graph.steps.items() if step.kind.name in kinds]


def build_in_copy(project: Session, *keys: str) -> Path:
    """Build the steps `keys` in a copy of the project; return the copy's folder of results.

    The caller must hold the project's lock. Without `keys`, all steps that make results are built. Raises ThesisError
    when a step failed, after printing every failure.
    """
    root, copy = project.root, project.root / COPY
    result_steps = steps_of_results(project.graph)
    _link_folders(root, copy)
    seed = digest(root / STATE)
    if not (copy / _SEED).is_file() or (copy / _SEED).read_bytes() != seed.encode():
        _fill_copy(project, copy, project.graph.order(result_steps))
        write(copy / _SEED, seed.encode())
    session = Session(copy, debug=project.debug)
    with session.engine.workers:
        session.build(keys or result_steps)
    return copy / RESULTS


def _link_folders(root: Path, copy: Path) -> None:
    """In the copy, link to the project's folders and to everything in `artifacts` except the results."""
    targets = {copy / folder: root / folder for folder in LINKED_FOLDERS if (root / folder).is_dir()}
    targets |= {
        copy / "artifacts" / path.name: path for path in (root / "artifacts").iterdir() if path.name != "results"
    }
    (copy / RESULTS).mkdir(parents=True, exist_ok=True)
    for link in (*copy.iterdir(), *(copy / "artifacts").iterdir()):
        if link.is_symlink() and (link not in targets or link.readlink() != targets[link].absolute()):
            link.unlink()
    for link, target in targets.items():
        if not link.is_symlink():
            link.symlink_to(target.absolute())


def _fill_copy(project: Session, copy: Path, keys: Iterable[str]) -> None:
    """Copy the project's results, the outputs of the steps `keys`, and the build state."""
    for folder in ("out", RESULTS):
        shutil.rmtree(copy / folder, ignore_errors=True)
    entries = project.engine.state.steps
    removed_keys = entries.keys() - project.graph.steps.keys()  # the copy must also remove results of removed steps
    copied_entries = {key: entry for key, entry in entries.items() if key in removed_keys.union(keys)}
    outputs = {path for entry in copied_entries.values() for path in entry["outputs"]}
    committed_paths = {path.relative_to(project.root).as_posix() for path in (project.root / RESULTS).glob("*.csv")}
    for path in sorted(outputs | committed_paths | {FACTS}):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(project.root / path, copy / path)
    if copied_entries:
        keep_steps(copy / STATE, copied_entries)
