"""Rebuild a project's results in a copy, so that the committed results stay unchanged.

`out/aside` links to the project's folders and has separate results and a separate `out`. Its files are kept for the
next time; once the project itself is built again, the copy is filled from the project.
"""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from boundpaper.build.closure import ROOMS
from boundpaper.build.graph import Graph
from boundpaper.build.session import Session
from boundpaper.build.state import keep_steps
from boundpaper.store.files import digest, write

ASIDE = "out/aside"
RESULTS = "artifacts/results"
LINKED = (*ROOMS, "packages", "paper")
STATE = "out/state/state.json"
FACTS = "out/state/facts.json"
_SEED = "out/state/seed"  # identifies the project state that the copy was filled from


def steps_of_results(graph: Graph) -> list[str]:
    """Return keys of steps that make results, without those that gather claims if there are no claims."""
    kinds = {step.kind.name for step in graph.steps.values()}
    gathering = {"ledger", "places", "inventory"} if "claim" in kinds else set()
    return [key for key, step in graph.steps.items() if step.kind.name in {"result", *gathering}]


def build_in_copy(project: Session, *keys: str) -> Path:
    """Build the steps `keys` in a copy of the project; return the copy's folder of results.

    The caller must hold the project's lock. Without `keys`, all steps that make results are built. Raises ThesisError
    when a step failed, after printing every failure.
    """
    root, aside = project.root, project.root / ASIDE
    result_steps = steps_of_results(project.graph)
    _link_folders(root, aside)
    if (seed := digest(root / STATE)) != _copied_state(aside):
        _fill_copy(project, aside, project.graph.order(result_steps))
        write(aside / _SEED, seed.encode())
    Session(aside, debug=project.debug).build(keys or result_steps)
    return aside / RESULTS


def _copied_state(aside: Path) -> str | None:
    try:
        return (aside / _SEED).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _link_folders(root: Path, aside: Path) -> None:
    """Link every folder of the project, and everything beside the results."""
    targets = {aside / room: root / room for room in LINKED if (root / room).is_dir()}
    targets |= {
        aside / "artifacts" / path.name: path for path in (root / "artifacts").iterdir() if path.name != "results"
    }
    (aside / RESULTS).mkdir(parents=True, exist_ok=True)
    for link in (*aside.iterdir(), *(aside / "artifacts").iterdir()):
        if link.is_symlink() and (link not in targets or link.readlink() != targets[link].absolute()):
            link.unlink()
    for link, target in targets.items():
        if not link.is_symlink():
            link.symlink_to(target.absolute())


def _fill_copy(project: Session, aside: Path, keys: Iterable[str]) -> None:
    """Copy into `aside` what the project has built: results, outputs of the steps `keys`, and the build state."""
    for folder in ("out", RESULTS):
        shutil.rmtree(aside / folder, ignore_errors=True)
    needed, known = set(keys), project.engine.state.steps
    gone = known.keys() - project.graph.steps.keys()  # the copy must also remove results of steps that are gone
    steps = {key: entry for key, entry in known.items() if key in needed | gone}
    outputs = {path for entry in steps.values() for path in entry["outputs"]}
    committed = {path.relative_to(project.root).as_posix() for path in (project.root / RESULTS).glob("*.csv")}
    for path in sorted(outputs | committed | {FACTS}):
        (aside / path).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(project.root / path, aside / path)
    if steps:
        keep_steps(aside / STATE, steps)
