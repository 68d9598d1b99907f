"""Cost of `run --all` on a model, in units of plain forward passes over the same texts.

    python benchmarks/run.py [--model tiny-rope] [--documents 4] [--items 4] [--permutations 20]

The script counts, for each experiment, the tokens that pass a layer (mean over layers). It runs each experiment twice:
by itself, and after the others in one process, where experiments share cached results. The unit is a forward pass over
all the texts. The floor counts a pass of a text through a layer only once if input and output are equal to the last
bit, in any experiment. The script prints a Markdown table. It exits with 1 if the rows of an experiment run by itself
differ from those of the joint run.
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

Cost = tuple[float, float, float, pd.DataFrame | str]
"""Tokens per layer, their floor, CPU seconds, and the rows or the error of an experiment."""


@contextmanager
def count_layers(model: kq.Model, known: set[bytes]) -> Iterator[list[int]]:
    """Count the tokens that layers read, and the tokens in new passes of a text through a layer.

    A pass is new if the hash of its layer, input and output is not yet in `known`; each new hash is added to `known`.
    """
    counts, hooks = [0, 0], list[Any]()
    begun: list[tuple[int, Any]] = []

    def end(states: Any) -> None:
        while begun:
            layer, before = begun.pop()
            for text_before, text_after in zip(before, before if states is None else states, strict=True):
                both = b" ".join(text.float().cpu().numpy().tobytes() for text in (text_before, text_after))
                digest = hashlib.blake2b(b"%d " % layer + both, digest_size=16).digest()
                counts[1] += len(text_before) * (digest not in known)
                known.add(digest)

    def read(inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return (inputs[0] if inputs else options["hidden_states"]).detach()

    def begin(layer: int, states: Any) -> None:
        counts[0] += states.shape[0] * states.shape[1]
        begun.append((layer, states.clone()))

    def listen(module: Any, call: Any) -> None:
        hooks.append(module.register_forward_pre_hook(lambda _, *arguments: call(*arguments), with_kwargs=True))

    listen(model.network, lambda *arguments: end(None))  # after a forward pass that was stopped inside a layer
    for block in blocks(model.network):
        listen(block.module, lambda *arguments: end(read(*arguments)))
        listen(block.attention, lambda *arguments, layer=block.layer: begin(layer, read(*arguments)))
    listen(model.network.get_output_embeddings(), lambda *arguments: end(read(*arguments)))
    try:
        yield counts
    finally:
        end(None)
        for hook in hooks:
            hook.remove()


def experiment_costs(names: list[str], model: str, sizes: dict[str, Any], permutations: int) -> dict[str, Cost]:
    """Return the cost of each experiment; all run in this process, with caches that are empty at the start."""
    costs: dict[str, Cost] = {}
    known: set[bytes] = set()
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # outside a project, answers and captures are cached in the process
        opened = kq.load(model)
        for name in names:
            more: dict[str, Any] = {"permutations": permutations} if name == "disruption" else {}
            begun = time.process_time()
            with count_layers(opened, known) as counts:
                try:
                    rows: pd.DataFrame | str = kq.run(name, opened, **sizes, **more)
                except ThesisError as error:
                    rows = str(error)
            layers = opened.subject.layers
            seconds = time.process_time() - begun
            costs[name] = (counts[0] / layers, counts[1] / layers, seconds, rows)
        os.chdir(here)
    return costs


def costs_in_new_process(*arguments: Any) -> dict[str, Cost]:
    """Return the result of `experiment_costs` from a separate process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(experiment_costs, *arguments).result()


def _line(name: str, plain: int, tokens: float, floor: float, alone: float, seconds: float) -> str:
    forwards = " | ".join(f"{count / plain:.1f}" for count in (tokens, floor, alone))
    return f"| {name} | {tokens:,.0f} | {seconds:.1f} | {forwards} |"


def main() -> None:
    """Print the table; exit with 1 if rows differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="tiny-rope")
    for name, default in (("documents", 4), ("items", 4), ("permutations", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args()
    if Path(chosen.model).is_dir():
        chosen.model = str(Path(chosen.model).resolve())
    sizes = {"texts": chosen.documents, "items": chosen.items}
    texts = kq.load(chosen.model).subject.texts(Options(**sizes))
    plain = sum(text.tokens.shape[1] for text in texts)
    together = costs_in_new_process(list(experiments_for_all()), chosen.model, sizes, chosen.permutations)
    differing, sums = [], [0.0, 0.0, 0.0, 0.0]
    print("| experiment | tokens | CPU s | in plain forwards | floor | by itself |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name, (tokens, floor, seconds, rows) in together.items():
        tokens_alone, _, _, rows_alone = costs_in_new_process([name], chosen.model, sizes, chosen.permutations)[name]
        if isinstance(rows, str):
            print(f"| {name} | | | | | {rows} |")
            continue
        if not isinstance(rows_alone, pd.DataFrame) or rows.to_csv() != rows_alone.to_csv():
            differing.append(name)
        counted = (tokens, floor, tokens_alone, seconds)
        sums = [before + new for before, new in zip(sums, counted, strict=True)]
        print(_line(name, plain, *counted), flush=True)
    print(_line("all", plain, *sums))
    if differing:
        sys.exit(f"rows differ when run alone: {', '.join(differing)}")


if __name__ == "__main__":
    main()
