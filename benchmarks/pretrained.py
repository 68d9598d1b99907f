# ruff: noqa: E402
"""Cost of measuring a pretrained model, as ratios to a plain forward pass timed in the same run.

    python benchmarks/pretrained.py [--model smollm2-135m] [--tokens 1024] [--repeat 3] [--all [--without NAME]]

A text of the Python manual on the CPU, one thread, float32. Four ways to read it take turns: the forward alone with the
`sdpa` kernel; captured, queries and keys of every head written to disk; with exact attention statistics of every head;
and with the whole attention matrices of the `eager` kernel, which statistics would need without streaming. Prints CPU
seconds of the fastest repeat and the rise of each way's memory peak. Then every head of a capture of four such texts is
analysed, as `python build.py heads` does, once, in one process. With `--all` every experiment of `run --all` is
measured instead, once, on little: what each costs, in forwards of one of its texts. Prints Markdown.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch

from boundpaper.store.paths import SCHEMA
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.measure.choices import EXPERIMENTS
from keyquery.measure.heads.analysis import measure
from keyquery.measure.run import RunPlan
from keyquery.measure.run import measure as measure_plan
from keyquery.measure.subject import Options
from keyquery.models.architecture import forward, run_forward, survey
from keyquery.models.attention.calls import recording
from keyquery.models.attention.statistics import attention_statistics
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
TEXTS, ITEMS = 2, 2  # of an experiment of `--all`
BY_LOSS = ("layer_ablation", "sinks")  # sweeps over the layers, judged by the loss alone
LESS: dict[str, dict[str, Any]] = {  # settings without which one experiment would be days of a core
    "context_length": {"ratios": [1 / 32], "baselines": [], "choices": []},
    "disruption": {"permutations": 20},
}


def memory_line(name: str) -> float:
    """Return a value of this process's status in MB: VmHWM, the peak memory, or VmRSS, the current memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def capture_model(model: Any, root: Path) -> Callable[[Any], object]:
    """Read a text and write queries and keys of every head to disk."""
    layers = survey(model)
    every = draw_heads(layers, sum(layer.query_heads for layer in layers))
    number = iter(range(1 << 20))

    def capture_text(ids: Any) -> object:
        recorder, place = VectorRecorder(layers, every, Buckets(ids.shape[1]), 0), next(number)
        with recording(model, recorder), parts.DocumentPart(root, place) as part:
            part.describe({"number": place})
            recorder.begin({place: part}, [ids.shape[1]])
            run_forward(model, ids)
            recorder.end()
        return None

    return capture_text


def read_with_statistics(model: Any) -> Callable[[Any], object]:
    """Read a text and compute exact attention statistics of every head."""

    def action(ids: Any) -> object:
        sums: list[Any] = []

        def keep(call: Any) -> None:
            sums.append(attention_statistics(call))

        forward(model, ids, keep)
        return sums

    return action


def read_with_matrices(model: Any) -> Callable[[Any], object]:
    """Read a text and keep the full attention matrices of all layers."""

    def action(ids: Any) -> object:
        model.set_attn_implementation("eager")
        try:
            with torch.inference_mode():
                return model.model(input_ids=ids, use_cache=False, output_attentions=True).attentions
        finally:
            model.set_attn_implementation("sdpa")

    return action


def time_calls(action: Callable[[Any], object], ids: Any) -> tuple[float, float]:
    """Return the CPU seconds of a call, and the rise of peak memory in MB."""
    held = memory_line("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    output = action(ids)
    seconds = time.process_time() - start
    del output
    return seconds, memory_line("VmHWM") - held


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
    place = str(capture(options))
    for name in ("warm", "timed"):
        (folder / name / SCHEMA).parent.mkdir(parents=True)
        shutil.copy(ROOT / SCHEMA, folder / name / SCHEMA)
    measure(folder / "warm", place, PlasticityOptions(), name="bench", jobs=1)
    start = time.process_time()
    done = measure(folder / "timed", place, PlasticityOptions(), name="bench", jobs=1)
    return done.heads, int(DOCUMENTS * BUCKETS * RATE), time.process_time() - start


def time_experiments(source: ModelSource, tokens: int, folder: Path, without: list[str]) -> dict[str, float]:
    """Return the CPU seconds of each experiment of `run --all`, run in sequence, without loading the model."""
    (folder / SCHEMA).parent.mkdir(parents=True)
    shutil.copy(ROOT / SCHEMA, folder / SCHEMA)
    spent: dict[str, float] = {}
    for name in (each for each in EXPERIMENTS if each not in without):
        items = 0 if name in BY_LOSS else ITEMS
        texts_from = None if name == "text_kinds" else "manual:evaluation"  # text_kinds has its own texts
        options = Options(texts=TEXTS, tokens=tokens, items=items, texts_from=texts_from)
        plan = RunPlan(root=folder, source=source, experiments=(name,), options=options, settings=LESS, name="bench")
        start = time.process_time()
        load(source)
        loading = time.process_time() - start
        start = time.process_time()
        measure_plan(plan)
        spent[name] = time.process_time() - start - loading
        print(f"{name}: {spent[name]:.0f} CPU s", file=sys.stderr)
    return spent


def print_experiments(name: str, tokens: int, alone: float, spent: dict[str, float]) -> None:
    """Print a row per experiment, and the total."""
    print(f"| {name}, {TEXTS} texts of {tokens:,} tokens, {ITEMS} items | CPU s | forwards of a text |")
    print("|:--|--:|--:|")
    for experiment, seconds in {**spent, "all": sum(spent.values())}.items():
        print(f"| {experiment} | {seconds:.1f} | {seconds / alone:.0f} |")


def main() -> None:
    """Run the selected measurements and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--without", action="append", default=[], choices=list(EXPERIMENTS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    source = ModelSource(str(resolve(ROOT, given.model)), dtype="fp32", device="cpu")
    loaded = load(source)
    [(_, text), *_] = texts(TextSource("manual:evaluation"))
    ids = torch.tensor([loaded.tokenizer(text, verbose=False)["input_ids"][: given.tokens]])
    with tempfile.TemporaryDirectory() as folder:
        if given.all:
            plain = [time_calls(lambda each: run_forward(loaded.model, each), ids)[0] for _ in range(given.repeat + 1)]
            spent_by_name = time_experiments(source, given.tokens, Path(folder), given.mark_missing)
            print_experiments(given.model, given.tokens, min(plain[1:]), spent_by_name)
            return
        kinds: dict[str, Callable[[Any], object]] = {
            "forward alone": lambda each: run_forward(loaded.model, each),
            "captured, every head": capture_model(loaded.model, Path(folder)),
            "attention statistics, every head": read_with_statistics(loaded.model),
            "eager, whole matrices": read_with_matrices(loaded.model),
        }
        for action in kinds.values():
            action(ids[:, :WARM])
        runs = [{kind: time_calls(action, ids) for kind, action in kinds.items()} for _ in range(given.repeat)]
        count, queries, spent = analyse_model(source, given.tokens, Path(folder))
    alone = min(each["forward alone"][0] for each in runs)
    print(f"| {given.model}, {ids.shape[1]:,} tokens | CPU s | ratio | tokens a CPU second | MB |")
    print("|:--|--:|--:|--:|--:|")
    for kind in kinds:
        seconds = min(each[kind][0] for each in runs)
        rise = max(each[kind][1] for each in runs)
        print(f"| {kind} | {seconds:.2f} | {seconds / alone:.3f} | {ids.shape[1] / seconds:.0f} | {rise:.0f} |")
    print("\n| heads | queries per head | CPU s | heads a CPU second | of a forward alone |\n|--:|--:|--:|--:|--:|")
    print(f"| {count} | {queries} | {spent:.2f} | {count / spent:.0f} | {spent / count / alone:.4f} a head |")


if __name__ == "__main__":
    main()
