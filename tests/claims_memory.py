"""The ledger in memory: run studies and claims on frames that a test may change, without writing files."""

import importlib
import io
from dataclasses import asdict
from functools import cache, lru_cache

import pandas as pd

from boundpaper.build.facts import FactReader
from boundpaper.build.graph import load
from boundpaper.build.job import Job
from boundpaper.store import reader as store
from boundpaper.store.descriptor import resource
from boundpaper.store.documents import THESIS, document_scope
from boundpaper.store.frames import parsed
from boundpaper.store.paper_vocabulary import read as vocabulary
from boundpaper.store.results import text
from conftest import ROOT


@lru_cache(maxsize=1)
def graph():
    """Return the graph of the project's steps."""
    return load(ROOT, FactReader(ROOT))


def exhibit_job(root, kind, name):
    """Return the job that makes an exhibit from the artifacts of `root`."""
    step = graph().steps[f"{kind}:{name}"]
    assert not step.fault, step.fault
    return Job(root, kind, name, step.file, step.function, step.artifacts)


def function(step):
    """Import and return the function of a step."""
    module = importlib.import_module(step.file.removesuffix(".py").replace("/", "."))
    return getattr(module, step.function)


def edited(name, change):
    """Return a source after `change`, with its printed numbers parsed again."""
    frame = change(source(name))
    if "printed" not in frame.columns:
        return frame
    bare = frame.drop(columns=["value", "decimals", "low", "high"])
    return parsed(bare, words=bool((resource(ROOT, name) or {}).get("words")))


@cache
def measured(name):
    """Return whether an artifact depends on measurements."""
    steps = graph().steps
    if f"measurement:{name}" in steps:
        return True
    step = steps.get(f"result:{name}")
    return bool(step and any(map(measured, step.artifacts)))


def source(name):
    """Return an artifact as the store reads it."""
    return store.read(ROOT, name)


class Memory:
    """Artifacts by name. Those that depend on a changed artifact are recomputed; all others are as committed.

    Parameters
    ----------
    changed : dict of str to DataFrame
        Sources or results that replace the committed ones.
    """

    def __init__(self, changed):
        self.frames = dict(changed)
        self.changed = set(changed)
        self.affected_by_name = {}

    def affected(self, name):
        """Return whether an artifact is changed, or depends on a changed artifact."""
        if name not in self.affected_by_name:
            step = graph().steps.get(f"result:{name}")
            self.affected_by_name[name] = name in self.changed or bool(step and any(map(self.affected, step.artifacts)))
        return self.affected_by_name[name]

    def frame(self, name):
        """Return a copy of the artifact."""
        if name not in self.frames:
            if self.affected(name):
                step = graph().steps[f"result:{name}"]
                result = function(step)(**self.arguments(step))
                self.frames[name] = _read_back(name, text(result, name))
            else:
                self.frames[name] = source(name)
        return self.frames[name].copy()

    def arguments(self, step):
        """Return the frames that a study or claim takes; sources have only the rows of the examined documents."""
        frames = {name: self.frame(name) for name in step.artifacts}
        stated = getattr(function(step), "stated", None)
        scope = document_scope(ROOT, stated.document if stated else THESIS)
        named_rows = [each for each in vocabulary(ROOT).named if each.table in frames]
        foreign_keys = {each.key: scope.foreign_keys(frames[each.table], each.key) for each in named_rows}
        return {
            name: scope.examined(frame, foreign_keys) if f"source:{name}" in graph().steps else frame
            for name, frame in frames.items()
        }

    def claims(self, direct=False):
        """Return the claims that depend on a changed artifact; with `direct`, only claims that read it themselves."""
        affected = self.changed.__contains__ if direct else self.affected
        claims = [step for step in graph().steps.values() if step.kind.name == "claim"]
        return [step for step in claims if any(map(affected, step.artifacts))]

    def rows(self, steps=None):
        """Return the ledger row of each claim in `steps` or, without `steps`, of each affected claim.

        A claim that raises has the verdict `error`.
        """
        by_claim = {}
        for step in self.claims() if steps is None else steps:
            try:
                answer = function(step)(**self.arguments(step))
            except Exception as error:
                by_claim[step.name] = {"verdict": "error", "reason": f"{type(error).__name__}: {error}"}
                continue
            for verdict in answer if isinstance(answer, list) else [answer]:
                by_claim[step.name + (f".{verdict.key}" if verdict.key else "")] = asdict(verdict)
        return by_claim


def _read_back(name, written):
    """Return the frame that the store would read from the text of a result."""
    fields = (resource(ROOT, name) or {"schema": {"fields": []}})["schema"]["fields"]
    types = {field["name"]: store._TYPES.get(field["type"], "str") for field in fields}
    frame = pd.read_csv(io.StringIO(written), dtype=types, keep_default_na=False, na_values=[""])
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]) and not pd.api.types.is_bool_dtype(frame[column]):
            frame[column] = frame[column].fillna("")
    return frame
