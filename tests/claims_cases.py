"""Helpers that run claims on small hand-made frames and return their verdicts as short texts."""

import importlib
import re
from functools import cache

import pandas as pd

from boundpaper.store.frames import parsed
from conftest import ROOT


@cache
def function(claim):
    """Return a claim, defined as a function or declared as cells; only the claim's module is imported."""
    files = (ROOT / "analysis/claims").glob("[!_]*/**/[!_]*.py")
    (path,) = (path for path in files if re.search(rf"^(def {claim}\(|{claim} = )", path.read_text(), re.M))
    return getattr(importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)), claim)


def rows(columns, *values):
    """Return a frame: `columns` names the columns in one string, and each tuple of `values` is one row."""
    return pd.DataFrame(list(values), columns=columns.split())


def prints(columns, *values):
    """Return a source in long form, with the numbers in its column `printed` parsed."""
    return parsed(rows(columns, *values), words=True)


def states(**printed):
    """Return a source of numbers stated in prose, by statement; a pair gives the text and the number that it means."""
    collected = []
    for statement, text in printed.items():
        words, number = (text, None) if isinstance(text, str) else text
        about = "about" if words.startswith("~") else ""
        collected.append((statement, statement.replace("_", " "), "", words, number, about))
    frame = prints("statement quantity model printed as_number qualifier", *collected)
    return frame.assign(as_number=frame["as_number"].astype(float))


def say(claim, *frames, **named):
    """Return the verdict of a claim and the value it recomputed, by key; frames follow the claim's parameters."""
    result = function(claim)(*frames, **named)
    made = result if isinstance(result, list) else [result]
    return {each.key: f"{each.verdict}: {each.recomputed}".removesuffix(": ") for each in made}


def says(claim, *frames, **named):
    """Return the verdict and the recomputed value of a claim with a single verdict."""
    (answer,) = say(claim, *frames, **named).values()
    return answer


def verdicts(claim, *frames, **named):
    """Return only the verdicts of a claim, by key."""
    return {key: answer.partition(":")[0] for key, answer in say(claim, *frames, **named).items()}


def verdict(claim, *frames, **named):
    """Return only the verdict of a claim with a single verdict."""
    (answer,) = verdicts(claim, *frames, **named).values()
    return answer


def reason(claim, *frames, **named):
    """Return the reason of a claim with a single verdict."""
    return function(claim)(*frames, **named).reason
