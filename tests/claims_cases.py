"""Helpers that run claims on small hand-made frames and return their verdicts as short texts."""

import importlib
import re
from functools import cache

import pandas as pd

from boundpaper.store.frames import parsed
from conftest import ROOT


@cache
def function(claim):
    """Import the module of the claim named `claim`; return its function or its declaration of cells."""
    files = (ROOT / "analysis/claims").glob("[!_]*/**/[!_]*.py")
    (path,) = (path for path in files if re.search(rf"^(def {claim}\(|{claim} = )", path.read_text(), re.M))
    return getattr(importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)), claim)


def rows(columns, *values):
    """Return a frame: `columns` names the columns in one string, and each tuple of `values` is one row."""
    return pd.DataFrame(list(values), columns=columns.split())


def prints(columns, *values):
    """Return a frame like `rows`, with the numbers of its column `printed` parsed."""
    return parsed(rows(columns, *values), words=True)


def states(**printed):
    """Return a frame of numbers stated in prose; each argument is a printed text, or a text and the number it means."""
    values = []
    for statement, printed_text in printed.items():
        text, number = (printed_text, None) if isinstance(printed_text, str) else printed_text
        about = "about" if text.startswith("~") else ""
        values.append((statement, statement.replace("_", " "), "", text, number, about))
    frame = prints("statement quantity model printed as_number qualifier", *values)
    return frame.assign(as_number=frame["as_number"].astype(float))


def say(claim, *frames, **frames_by_name):
    """Run a claim on frames; return its verdicts by key, each with the recomputed value: `supported: 3`."""
    result = function(claim)(*frames, **frames_by_name)
    judged = result if isinstance(result, list) else [result]
    return {verdict.key: f"{verdict.verdict}: {verdict.recomputed}".removesuffix(": ") for verdict in judged}


def says(claim, *frames, **frames_by_name):
    """Return the verdict and the recomputed value of a claim with a single verdict."""
    (answer,) = say(claim, *frames, **frames_by_name).values()
    return answer


def verdicts(claim, *frames, **frames_by_name):
    """Return only the verdicts of a claim, by key."""
    return {key: answer.partition(":")[0] for key, answer in say(claim, *frames, **frames_by_name).items()}


def verdict(claim, *frames, **frames_by_name):
    """Return only the verdict of a claim with a single verdict."""
    (answer,) = verdicts(claim, *frames, **frames_by_name).values()
    return answer


def reason(claim, *frames, **frames_by_name):
    """Return the reason of a claim with a single verdict."""
    return function(claim)(*frames, **frames_by_name).reason
