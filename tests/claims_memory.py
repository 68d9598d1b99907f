"""The ledger in memory: every study and claim called on frames that a test may change, nothing written."""

import importlib
import io
from dataclasses import asdict
from functools import cache, lru_cache

import pandas as pd

from boundpaper.build.facts import FactReader
from boundpaper.build.graph import load
from boundpaper.store import reader as store
from boundpaper.store.descriptor import resource
from boundpaper.store.documents import THESIS, readers_of
from boundpaper.store.frames import parsed
from boundpaper.store.paper_vocabulary import read as vocabulary
from boundpaper.store.results import text
from conftest import ROOT


@lru_cache(maxsize=1)
def graph():
    """The steps of the project."""
    return load(ROOT, FactReader(ROOT))


def function(step):
    """The function of a step, imported."""
    module = importlib.import_module(step.file.removesuffix(".py").replace("/", "."))
    return getattr(module, step.function)


def edited(name, change):
    """A source as read, with `change` applied to its printed text, parsed anew."""
    frame = change(source(name))
    if "printed" not in frame.columns:
        return frame
    bare = frame.drop(columns=["value", "decimals", "low", "high"])
    return parsed(bare, words=bool((resource(ROOT, name) or {}).get("words")))


@cache
def measured(name):
    """Whether an artifact follows from measurements, which studies take long over."""
    steps = graph().steps
    if f"measurement:{name}" in steps:
        return True
    step = steps.get(f"result:{name}")
    return bool(step and any(map(measured, step.artifacts)))


def source(name):
    """An artifact as the store reads it."""
    return store.read(ROOT, name)


class Memory:
    """Artifacts by name: the changed ones, what follows from them recomputed, the rest as committed.

    Parameters
    ----------
    changed : dict of str to DataFrame
        Sources or results that stand in the place of the committed ones.
    """

    def __init__(self, changed):
        self.frames = dict(changed)
        self.changed = set(changed)
        self.moved = {}

    def affected(self, name):
        """Whether an artifact is changed, or follows from one that is."""
        if name not in self.moved:
            step = graph().steps.get(f"result:{name}")
            self.moved[name] = name in self.changed or bool(step and any(map(self.affected, step.artifacts)))
        return self.moved[name]

    def frame(self, name):
        """A copy of the artifact."""
        if name not in self.frames:
            if self.affected(name):
                step = graph().steps[f"result:{name}"]
                made = function(step)(**self.given(step))
                self.frames[name] = _read_back(name, text(made, name))
            else:
                self.frames[name] = source(name)
        return self.frames[name].copy()

    def given(self, step):
        """What a study or a claim is given: of the sources the rows of the examined documents, as a job gives them."""
        frames = {name: self.frame(name) for name in step.artifacts}
        place = getattr(function(step), "stated", None)
        whose = readers_of(ROOT, place.document if place else THESIS)
        named = [each for each in vocabulary(ROOT).named if each.table in frames]
        added = {each.key: whose.others(frames[each.table], each.key) for each in named}
        return {
            name: whose.examined(frame, added) if f"source:{name}" in graph().steps else frame
            for name, frame in frames.items()
        }

    def claims(self, direct=False):
        """The claims that read something changed; those that read a changed frame itself, where `direct`."""
        reads = self.changed.__contains__ if direct else self.affected
        return [
            step for step in graph().steps.values() if step.kind.name == "claim" and any(map(reads, step.artifacts))
        ]

    def rows(self, steps=None):
        """The verdicts of some claims (those that read something changed), by claim name; a failure is a row too."""
        by_claim = {}
        for step in self.claims() if steps is None else steps:
            try:
                made = function(step)(**self.given(step))
            except Exception as error:
                by_claim[step.name] = {"verdict": "error", "reason": f"{type(error).__name__}: {error}"}
                continue
            for verdict in made if isinstance(made, list) else [made]:
                by_claim[step.name + (f".{verdict.key}" if verdict.key else "")] = asdict(verdict)
        return by_claim


def _read_back(name, written):
    """What the store would read of a result with this text."""
    fields = (resource(ROOT, name) or {"schema": {"fields": []}})["schema"]["fields"]
    types = {field["name"]: store._TYPES.get(field["type"], "str") for field in fields}
    frame = pd.read_csv(io.StringIO(written), dtype=types, keep_default_na=False, na_values=[""])
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]) and not pd.api.types.is_bool_dtype(frame[column]):
            frame[column] = frame[column].fillna("")
    return frame
