"""Cost of `run --all` on a model, in units of plain forward passes over the same texts.

    python benchmarks/run.py [--model tiny-rope] [--documents 4] [--items 4] [--permutations 20]

Counts the tokens that pass each layer, mean over layers, of every experiment: by itself, and after the others in one
process, where they share what was asked before. A plain forward is one over all the texts. Prints a Markdown table,
and fails where an experiment gives other rows by itself than beside the others.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

import keyquery as kq
from boundpaper.errors import ThesisError
from keyquery.measure.choices import experiments_for_all
from keyquery.measure.subject import Options
from keyquery.models.anatomy import blocks

Found = tuple[float, float, float, pd.DataFrame | str]


@contextmanager
def count_layers(model: kq.Model) -> Iterator[dict[str, int]]:
    """Count the layers that run, and the tokens that they read."""
    seen = {"layers": 0, "tokens": 0}

    def before(module: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        states = inputs[0] if inputs else options["hidden_states"]
        seen["layers"] += 1
        seen["tokens"] += states.shape[0] * states.shape[1]

    hooks = [block.attention.register_forward_pre_hook(before, with_kwargs=True) for block in blocks(model.network)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def measured(names: list[str], model: str, asked: dict[str, Any], permutations: int) -> dict[str, Found]:
    """Return forward passes, tokens per layer, and rows of experiments run in one process with empty caches."""
    found: dict[str, Found] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # outside a project, answers and captures are cached in the process
        opened = kq.load(model)
        for name in names:
            more: dict[str, Any] = {"permutations": permutations} if name == "disruption" else {}
            begun = time.process_time()
            with count_layers(opened) as seen:
                try:
                    rows: pd.DataFrame | str = kq.run(name, opened, **asked, **more)
                except ThesisError as error:
                    rows = str(error)
            layers = opened.subject.layers
            seconds = time.process_time() - begun
            found[name] = (seen["layers"] / layers, seen["tokens"] / layers, seconds, rows)
        os.chdir(here)
    return found


def measure_apart(*given: Any) -> dict[str, Found]:
    """Return the result of `measured` from a separate process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measured, *given).result()


def main() -> None:
    """Print the table; exit with 1 if rows differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="tiny-rope")
    for name, default in (("documents", 4), ("items", 4), ("permutations", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    if Path(given.model).is_dir():
        given.model = str(Path(given.model).resolve())
    asked = {"texts": given.documents, "items": given.items}
    texts = kq.load(given.model).subject.texts(Options(**asked))
    plain = sum(text.tokens.shape[1] for text in texts)
    together = measure_apart(list(experiments_for_all()), given.model, asked, given.permutations)
    other, sums = [], [0.0, 0.0, 0.0]
    print("| experiment | forwards | tokens | CPU s | in plain forwards | by itself |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name, (forwards, tokens, seconds, rows) in together.items():
        _, own, _, alone = measure_apart([name], given.model, asked, given.permutations)[name]
        if isinstance(rows, str):
            print(f"| {name} | | | | | {rows} |")
            continue
        if not isinstance(alone, pd.DataFrame) or rows.to_csv() != alone.to_csv():
            other.append(name)
        sums = [before + new for before, new in zip(sums, (tokens, own, seconds), strict=True)]
        times = f"{seconds:.1f} | {tokens / plain:.1f} | {own / plain:.1f}"
        print(f"| {name} | {forwards:,.0f} | {tokens:,.0f} | {times} |", flush=True)
    print(f"| all | | {sums[0]:,.0f} | {sums[2]:.1f} | {sums[0] / plain:.1f} | {sums[1] / plain:.1f} |")
    if other:
        sys.exit(f"rows differ when run alone: {', '.join(other)}")


if __name__ == "__main__":
    main()
