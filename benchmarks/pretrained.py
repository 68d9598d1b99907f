# ruff: noqa: E402
"""Cost of measuring a pretrained model, as ratios to a plain forward pass timed in the same run.

    python benchmarks/pretrained.py [--model smollm2-135m] [--tokens 1024] [--repeat 3] [--all [--without NAME]]

The model reads a text of the Python manual on the CPU, with one thread, in float32. Four ways of reading take turns:

- a plain forward pass with the `sdpa` kernel,
- a captured one, which writes queries and keys of every head to disk,
- one with exact attention statistics of every head,
- one that keeps the whole attention matrices of the `eager` kernel.

The script prints, as Markdown, the CPU seconds of the fastest repeat and the rise of the peak memory. Then it analyses
every head of a capture of four such texts, as `python build.py heads` does, once, in one process. With `--all` it runs
each experiment of `run --all` once instead, with few texts and items, and prints its cost in forward passes of a text.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch

from benchmarks.attention import read_with_statistics
from benchmarks.clock import memory_in_mb
from boundpaper.store.paths import SCHEMA
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.measure.choices import EXPERIMENTS
from keyquery.measure.heads.analysis import measure
from keyquery.measure.run import RunPlan
from keyquery.measure.run import measure as measure_plan
from keyquery.measure.subject import Options
from keyquery.models.architecture import run_forward, survey
from keyquery.models.attention.calls import recording
from keyquery.models.captures import parts
from keyquery.models.captures.capture import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.recorder import VectorRecorder
from keyquery.models.captures.sampling import Buckets, draw_heads
from keyquery.models.checkpoints.builtin import resolve
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource, texts

WARM = 32  # tokens of the untimed warm-up
DOCUMENTS, BUCKETS, RATE = 4, 8, 16.0  # of the capture that is analysed: 512 queries per head
TEXTS, ITEMS = 2, 2  # number of texts and of items in an experiment of `--all`
BY_LOSS = ("layer_ablation", "sinks")  # experiments that change each layer in turn and measure the loss, without items
SMALL_SETTINGS: dict[str, dict[str, Any]] = {  # with its default settings, each of these experiments would take days
    "context_length": {"ratios": [1 / 32], "baselines": [], "choices": []},
    "disruption": {"permutations": 20},
}


def capture_model(model: Any, root: Path) -> Callable[[Any], object]:
    """Return a function that reads a text and writes queries and keys of every head to disk."""
    layers = survey(model)
    heads = draw_heads(layers, sum(layer.query_heads for layer in layers))
    numbers = itertools.count()

    def capture_text(ids: Any) -> None:
        recorder, number = VectorRecorder(layers, heads, Buckets(ids.shape[1]), 0), next(numbers)
        with recording(model, recorder), parts.DocumentPart(root, number) as part:
            part.describe({"number": number})
            recorder.begin({number: part}, [ids.shape[1]])
            run_forward(model, ids)
            recorder.end()

    return capture_text


def read_with_matrices(model: Any, ids: Any) -> object:
    """Read a text and return the full attention matrices of all layers."""
    model.set_attn_implementation("eager")
    try:
        with torch.inference_mode():
            return model.model(input_ids=ids, use_cache=False, output_attentions=True).attentions
    finally:
        model.set_attn_implementation("sdpa")


def time_call(action: Callable[[Any], object], ids: Any) -> tuple[float, float]:
    """Return the CPU seconds of a call, and the rise of peak memory in MB."""
    before = memory_in_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    output = action(ids)
    seconds = time.process_time() - start
    del output
    return seconds, memory_in_mb("VmHWM") - before


def analyse_model(source: ModelSource, tokens: int, folder: Path) -> tuple[int, int, float]:
    """Return number of heads of a capture, queries per head, and CPU seconds of their analysis without compilation."""
    options = CaptureOptions(
        model=source,
        texts=TextSource("manual:evaluation"),
        out=folder / "captured",
        context=tokens,
        heads=None,
        buckets=BUCKETS,
        rate=RATE,
        limit=DOCUMENTS,
        windows=True,
    )
    captured = str(capture(options))
    for name in ("warm", "timed"):
        (folder / name / SCHEMA).parent.mkdir(parents=True)
        shutil.copy(ROOT / SCHEMA, folder / name / SCHEMA)
    measure(folder / "warm", captured, PlasticityOptions(), name="bench", jobs=1)
    start = time.process_time()
    measured = measure(folder / "timed", captured, PlasticityOptions(), name="bench", jobs=1)
    return measured.heads, int(DOCUMENTS * BUCKETS * RATE), time.process_time() - start


def time_experiments(source: ModelSource, tokens: int, folder: Path, without: list[str]) -> dict[str, float]:
    """Return the CPU seconds of each experiment of `run --all`, run in sequence; loading the model is not counted."""
    (folder / SCHEMA).parent.mkdir(parents=True)
    shutil.copy(ROOT / SCHEMA, folder / SCHEMA)
    seconds: dict[str, float] = {}
    for name in (name for name in EXPERIMENTS if name not in without):
        items = 0 if name in BY_LOSS else ITEMS
        source_of_texts = None if name == "text_kinds" else "manual:evaluation"  # text_kinds has its own texts
        options = Options(texts=TEXTS, tokens=tokens, items=items, texts_from=source_of_texts)
        plan = RunPlan(
            root=folder, source=source, experiments=(name,), options=options, settings=SMALL_SETTINGS, name="bench"
        )
        start = time.process_time()
        load(source)
        loading = time.process_time() - start
        start = time.process_time()
        measure_plan(plan)
        seconds[name] = time.process_time() - start - loading
        print(f"{name}: {seconds[name]:.0f} CPU s", file=sys.stderr)
    return seconds


def print_experiments(name: str, tokens: int, plain: float, by_experiment: dict[str, float]) -> None:
    """Print the CPU seconds of each experiment and their sum, also as multiples of a forward pass (`plain` seconds)."""
    print(f"| {name}, {TEXTS} texts of {tokens:,} tokens, {ITEMS} items | CPU s | forwards of a text |")
    print("|:--|--:|--:|")
    for experiment, seconds in {**by_experiment, "all": sum(by_experiment.values())}.items():
        print(f"| {experiment} | {seconds:.1f} | {seconds / plain:.0f} |")


def main() -> None:
    """Run the selected measurements and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--without", action="append", default=[], choices=list(EXPERIMENTS))
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    source = ModelSource(str(resolve(ROOT, chosen.model)), dtype="fp32", device="cpu")
    loaded = load(source)
    [(_, text), *_] = texts(TextSource("manual:evaluation"))
    ids = torch.tensor([loaded.tokenizer(text, verbose=False)["input_ids"][: chosen.tokens]])
    with tempfile.TemporaryDirectory() as folder:
        if chosen.all:
            plain = [time_call(partial(run_forward, loaded.model), ids)[0] for _ in range(chosen.repeat + 1)]
            by_experiment = time_experiments(source, chosen.tokens, Path(folder), chosen.without)
            print_experiments(chosen.model, chosen.tokens, min(plain[1:]), by_experiment)
            return
        kinds: dict[str, Callable[[Any], object]] = {
            "forward alone": partial(run_forward, loaded.model),
            "captured, every head": capture_model(loaded.model, Path(folder)),
            "attention statistics, every head": partial(read_with_statistics, loaded.model),
            "eager, whole matrices": partial(read_with_matrices, loaded.model),
        }
        for action in kinds.values():
            action(ids[:, :WARM])
        runs = [{kind: time_call(action, ids) for kind, action in kinds.items()} for _ in range(chosen.repeat)]
        count, queries, spent = analyse_model(source, chosen.tokens, Path(folder))
    alone = min(run["forward alone"][0] for run in runs)
    print(f"| {chosen.model}, {ids.shape[1]:,} tokens | CPU s | ratio | tokens a CPU second | MB |")
    print("|:--|--:|--:|--:|--:|")
    for kind in kinds:
        seconds = min(run[kind][0] for run in runs)
        rise = max(run[kind][1] for run in runs)
        print(f"| {kind} | {seconds:.2f} | {seconds / alone:.3f} | {ids.shape[1] / seconds:.0f} | {rise:.0f} |")
    print("\n| heads | queries per head | CPU s | heads a CPU second | of a forward alone |\n|--:|--:|--:|--:|--:|")
    print(f"| {count} | {queries} | {spent:.2f} | {count / spent:.0f} | {spent / count / alone:.4f} a head |")


if __name__ == "__main__":
    main()
