"""A project of two texts and three steps, built by functions that a test can observe."""

import sys
import types
from pathlib import Path

import pytest

from boundpaper.build.engine import Engine
from boundpaper.build.facts import FactReader
from boundpaper.build.graph import Graph, Step
from boundpaper.build.kinds import Kind


class Project:
    """A folder with two source files and steps: `upper` of each file, then `join` of both."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.calls: list[str] = []
        self.notes: list[str] = []
        self.during = lambda job: None
        module = types.ModuleType("engine_builders")
        module.__dict__["upper"] = self.upper
        module.__dict__["join"] = self.join
        monkeypatch.setitem(sys.modules, "engine_builders", module)
        for name in ("a", "b"):
            (root / f"{name}.txt").write_text(name)
        self.faults: tuple[str, ...] = ()

    def graph(self, names: tuple[str, ...] = ("a", "b"), fault: str = "", parallel: bool = False) -> Graph:
        upper = Kind(name="upper", builder="engine_builders:upper", targets=("out/{name}.up",), in_thread=parallel)
        join = Kind(name="join", builder="engine_builders:join", targets=("out/{name}",))
        steps = {
            f"upper:{name}": Step(
                key=f"upper:{name}",
                kind=upper,
                name=name,
                file=f"{name}.txt",
                inputs=(f"{name}.txt",),
                fault=fault if name == "a" else "",
            )
            for name in names
        }
        steps["join:all"] = Step(key="join:all", kind=join, name="all", file="", needs=tuple(steps))
        return Graph(steps=steps, artifacts={}, faults=self.faults)

    def upper(self, job):
        self.calls.append(f"upper:{job.name}")
        self.during(job)
        return {f"out/{job.name}.up": (job.root / job.file).read_text().strip().upper()}

    def join(self, job):
        self.calls.append("join:all")
        return {"out/all": " ".join((job.root / path).read_text() for path in job.inputs)}

    def build(self, *targets: str, **options):
        self.calls.clear()
        self.notes.clear()
        words = {"note": "", "rewritten": "rewritten "}
        report = lambda event, key, text: self.notes.append(words[event] + text) if event in words else None  # noqa: E731
        reader = FactReader(self.root, self.root / "out/state/facts.json")
        return Engine(self.root, self.graph(**options), reader, report, jobs=2).build(targets or ("join:all",))
