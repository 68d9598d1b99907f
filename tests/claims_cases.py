"""Claims on small hand-made frames: what a claim says of them, in a line that a person can check by eye."""

import importlib
import re
from functools import cache

import pandas as pd

from boundpaper.store.frames import parsed
from conftest import ROOT


@cache
def function(claim):
    """The claim, written or declared; only its own module is imported."""
    files = (ROOT / "analysis/claims").glob("[!_]*/**/[!_]*.py")
    (path,) = (path for path in files if re.search(rf"^(def {claim}\(|{claim} = )", path.read_text(), re.M))
    return getattr(importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)), claim)


def rows(columns, *values):
    """A frame: the names of its columns in one string, then one tuple a row."""
    return pd.DataFrame(list(values), columns=columns.split())


def prints(columns, *values):
    """A source in long form: one of its columns is `printed`, whose numbers are parsed."""
    return parsed(rows(columns, *values), words=True)


def states(**printed):
    """Numbers stated in prose, by statement; a pair gives the text and the number that its words stand for."""
    collected = []
    for statement, text in printed.items():
        words, number = text if isinstance(text, tuple) else (text, None)
        about = "about" if words.startswith("~") else ""
        collected.append((statement, statement.replace("_", " "), "", words, number, about))
    frame = prints("statement quantity model printed as_number qualifier", *collected)
    return frame.assign(as_number=frame["as_number"].astype(float))


def say(claim, *frames, **named):
    """The verdict of a claim and what it recomputed, by key; frames in the order of the claim's parameters."""
    result = function(claim)(*frames, **named)
    made = result if isinstance(result, list) else [result]
    return {each.key: f"{each.verdict}: {each.recomputed}".removesuffix(": ") for each in made}


def says(claim, *frames, **named):
    """The same of a claim that gives a single verdict."""
    (answer,) = say(claim, *frames, **named).values()
    return answer


def verdicts(claim, *frames, **named):
    """The verdicts alone, by key."""
    return {key: answer.partition(":")[0] for key, answer in say(claim, *frames, **named).items()}


def verdict(claim, *frames, **named):
    """The verdict alone, of a claim that gives a single one."""
    (answer,) = verdicts(claim, *frames, **named).values()
    return answer


def reason(claim, *frames, **named):
    """The reason of a claim that gives a single verdict."""
    return function(claim)(*frames, **named).reason
