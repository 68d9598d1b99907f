"""Cost of `run --all` on a model, in units of plain forward passes over the same texts.

    python benchmarks/run.py [--model tiny-rope] [--documents 4] [--items 4] [--permutations 20]

Counts the tokens that pass each layer, mean over layers, of every experiment: by itself, and after the others in one
process, where they share what was asked before. A plain forward is one over all the texts. The floor counts only once
what one layer does to one text: equal input and equal output, to the last bit, in any experiment. Prints a Markdown
table, and fails where an experiment gives other rows by itself than beside the others.
"""

import argparse
import hashlib
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
def count_layers(model: kq.Model, known: set[bytes]) -> Iterator[list[int]]:
    """Count the tokens that layers read, and those of texts to which none of the `known` layers did the same."""
    seen, hooks = [0, 0], list[Any]()
    begun: list[tuple[int, Any]] = []

    def end(states: Any) -> None:
        while begun:
            layer, before = begun.pop()
            for own, after in zip(before, before if states is None else states, strict=True):
                both = b" ".join(each.float().cpu().numpy().tobytes() for each in (own, after))
                mark = hashlib.blake2b(b"%d " % layer + both, digest_size=16).digest()
                seen[1] += len(own) * (mark not in known)
                known.add(mark)

    def read(inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return (inputs[0] if inputs else options["hidden_states"]).detach()

    def begin(layer: int, states: Any) -> None:
        seen[0] += states.shape[0] * states.shape[1]
        begun.append((layer, states.clone()))

    def listen(module: Any, call: Any) -> None:
        hooks.append(module.register_forward_pre_hook(lambda _, *given: call(*given), with_kwargs=True))

    listen(model.network, lambda *given: end(None))  # a forward pass that was stopped inside a layer
    for block in blocks(model.network):
        listen(block.module, lambda *given: end(read(*given)))
        listen(block.attention, lambda *given, layer=block.layer: begin(layer, read(*given)))
    listen(model.network.get_output_embeddings(), lambda *given: end(read(*given)))
    try:
        yield seen
    finally:
        end(None)
        for hook in hooks:
            hook.remove()


def measured(names: list[str], model: str, asked: dict[str, Any], permutations: int) -> dict[str, Found]:
    """Return tokens per layer, their floor, seconds and rows of experiments run in one process with empty caches."""
    found: dict[str, Found] = {}
    known: set[bytes] = set()
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # outside a project, answers and captures are cached in the process
        opened = kq.load(model)
        for name in names:
            more: dict[str, Any] = {"permutations": permutations} if name == "disruption" else {}
            begun = time.process_time()
            with count_layers(opened, known) as seen:
                try:
                    rows: pd.DataFrame | str = kq.run(name, opened, **asked, **more)
                except ThesisError as error:
                    rows = str(error)
            layers = opened.subject.layers
            seconds = time.process_time() - begun
            found[name] = (seen[0] / layers, seen[1] / layers, seconds, rows)
        os.chdir(here)
    return found


def measure_apart(*given: Any) -> dict[str, Found]:
    """Return the result of `measured` from a separate process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measured, *given).result()


def _line(name: str, plain: int, tokens: float, least: float, own: float, seconds: float) -> str:
    forwards = " | ".join(f"{each / plain:.1f}" for each in (tokens, least, own))
    return f"| {name} | {tokens:,.0f} | {seconds:.1f} | {forwards} |"


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
    other, sums = [], [0.0, 0.0, 0.0, 0.0]
    print("| experiment | tokens | CPU s | in plain forwards | floor | by itself |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name, (tokens, least, seconds, rows) in together.items():
        own, _, _, alone = measure_apart([name], given.model, asked, given.permutations)[name]
        if isinstance(rows, str):
            print(f"| {name} | | | | | {rows} |")
            continue
        if not isinstance(alone, pd.DataFrame) or rows.to_csv() != alone.to_csv():
            other.append(name)
        counted = (tokens, least, own, seconds)
        sums = [before + new for before, new in zip(sums, counted, strict=True)]
        print(_line(name, plain, *counted), flush=True)
    print(_line("all", plain, *sums))
    if other:
        sys.exit(f"rows differ when run alone: {', '.join(other)}")


if __name__ == "__main__":
    main()
