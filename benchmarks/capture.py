"""Cost of a capture, as ratios to baselines timed in the same run.

    python benchmarks/capture.py [--repeat 15] [--context 2048] [--threads 1] [--long 131072]
        [--against transformer_lens=PYTHON --against nnsight=PYTHON]

The model is a Llama of 4 layers and width 256 with random weights, on the CPU. The script prints three tables:

- Time of a captured forward pass, which writes its vectors to disk, and of the plain forward pass; the two take turns.
  Each library named by --against is measured too, with the Python that has it.
- Peak memory of captures of 64, 512 and 2,048 documents and of a plain forward pass, each in a separate process.
- With `--long N`, time and rise of memory with and without capture, for texts of N/4, N/2 and N tokens in one layer.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keyquery.models.captures.options import CaptureOptions

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
WORDS = 512
SIZES: dict[str, Any] = {  # of a LlamaConfig
    "vocab_size": WORDS, "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 1 << 17,
}  # fmt: skip
SMALL: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1,
}  # fmt: skip
COUNTS, SHORT = (64, 512, 2048), 64  # numbers of documents, and their context, for measuring memory


def save_model(folder: Path, **sizes: int) -> Path:
    """Save the model and a tokenizer of numbered words; return the folder."""
    import torch
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    torch.manual_seed(0)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES | sizes)).save_pretrained(folder)
    tokenizer = Tokenizer(WordLevel({f"w{number}": number for number in range(WORDS)}, unk_token="w0"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    wrap: Callable[..., transformers.PreTrainedTokenizerBase] = transformers.PreTrainedTokenizerFast
    wrap(tokenizer_object=tokenizer, unk_token="w0").save_pretrained(folder)
    return folder


def options(folder: Path, out: Path, context: int, documents: int) -> CaptureOptions:
    """Return options that capture every head with one token per bucket, as in the published captures."""
    from keyquery.models.captures.options import CaptureOptions
    from keyquery.models.checkpoints.loading import ModelSource
    from keyquery.models.texts import TextSource

    texts = folder / f"texts-{context}-{documents}.jsonl"
    if not texts.exists():
        rng = random.Random(0)
        with texts.open("w") as stream:
            for _ in range(documents):
                stream.write(json.dumps({"text": " ".join(f"w{rng.randrange(WORDS)}" for _ in range(context))}) + "\n")
    return CaptureOptions(
        model=ModelSource(str(folder), dtype="fp32", device="cpu"),
        texts=TextSource(str(texts)),
        context=context,
        out=out,
    )


Action = Callable[[], object]


def keyquery(model: Any, folder: Path, tokens: Any) -> Action:
    """Return an action that runs a captured forward pass and writes the vectors to disk."""
    from keyquery.models.architecture import survey
    from keyquery.models.attention.calls import recording
    from keyquery.models.captures import parts
    from keyquery.models.captures.recorder import VectorRecorder
    from keyquery.models.captures.sampling import Buckets, draw_heads

    layers = survey(model)
    recorder = VectorRecorder(layers, draw_heads(layers, 300), Buckets(tokens.shape[1]), 0)

    def captured() -> None:
        with recording(model, recorder), parts.DocumentPart(folder / "timed", 0) as part:
            part.describe({"number": 0})
            recorder.begin({0: part}, [tokens.shape[1]])
            recorder.forward(model, tokens)
            recorder.end()

    return captured


def transformer_lens_action(model: Any, folder: Path, tokens: Any) -> Action:
    """Return an action that reads rotated queries and keys from the cache of TransformerLens, without writing."""
    import torch
    from transformer_lens.model_bridge import TransformerBridge  # type: ignore[import-not-found, unused-ignore]

    bridge = TransformerBridge.boot_transformers(str(folder), device="cpu", dtype=torch.float32)
    return partial(bridge.run_with_cache, tokens, names_filter=lambda name: name.endswith(("hook_rot_q", "hook_rot_k")))


def nnsight_action(model: Any, folder: Path, tokens: Any) -> Action:
    """Return an action that saves rotated queries and keys from an nnsight trace, without writing to disk."""
    import nnsight as library  # type: ignore[import-not-found, unused-ignore]
    import transformers

    traced = library.LanguageModel(model, tokenizer=transformers.AutoTokenizer.from_pretrained(folder))

    def captured() -> None:
        saved = []
        with traced.trace(tokens, logits_to_keep=1, use_cache=False):
            for layer in traced.model.layers:
                saved.append(layer.self_attn.source.apply_rotary_pos_emb_0.output.save())
        if [keys.shape[2] for _, keys in saved] != [tokens.shape[1]] * SIZES["num_hidden_layers"]:
            raise SystemExit("nnsight did not save keys of every layer")

    return captured


KINDS = {"keyquery": keyquery, "transformer_lens": transformer_lens_action, "nnsight": nnsight_action}


def time_in_turns(kind: str, folder: Path, context: int, repeat: int, threads: int) -> None:
    """Time plain and captured forward passes in turns; print wall and CPU seconds and added MB as JSON."""
    import torch
    import transformers

    from benchmarks.clock import memory_in_mb

    torch.set_num_threads(threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokens = torch.randint(0, WORDS, (1, context))
    actions: dict[str, Action] = {
        "plain": partial(model, input_ids=tokens, use_cache=False, logits_to_keep=1),
        "captured": KINDS[kind](model, folder, tokens),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in actions}
    rises: dict[str, float] = {}
    with torch.inference_mode():
        for number in range(repeat + 1):
            for name in sorted(actions, reverse=bool(number % 2)):
                before = memory_in_mb("VmRSS")
                Path("/proc/self/clear_refs").write_text("5")
                wall, cpu = time.perf_counter(), time.process_time()
                actions[name]()
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
                rises[name] = max(rises.get(name, 0.0), memory_in_mb("VmHWM") - before)
    print(json.dumps({"times": times, "rises": rises}))


def peak_bytes(folder: Path, documents: int) -> int:
    """Return the peak memory in bytes of a separate process that captures `documents` texts."""
    command = [sys.executable, __file__, "--peak", str(documents), "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return int(done.stdout.split()[-1])


def print_peak(folder: Path, documents: int) -> None:
    """Capture `documents` texts, or run a plain forward pass if 0; print this process's peak memory in bytes."""
    import torch
    import transformers

    torch.set_num_threads(1)
    if documents:
        from keyquery.models.captures.capture import capture

        capture(options(folder, folder / f"out-{documents}", SHORT, documents))
    else:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
        with torch.inference_mode():
            model(input_ids=torch.zeros((1, SHORT), dtype=torch.long), use_cache=False, logits_to_keep=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def timings(python: str, kind: str, folder: Path, *, context: int, repeat: int, threads: int = 1) -> dict[str, Any]:
    """Return what `time_in_turns` prints when the interpreter `python` runs it in a separate process."""
    arguments = ["--folder", folder, "--context", context, "--repeat", repeat, "--threads", threads]
    command = [python, __file__, "--turns", kind, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed


def print_long_text(longest: int, folder: Path) -> None:
    """Print time and memory of a plain and a captured forward pass, by text length."""
    print("\n| tokens, one layer | captured CPU s | forward alone CPU s | captured MB | forward alone MB |")
    print("|--:|--:|--:|--:|--:|")
    save_model(folder, **SMALL)
    for tokens in (longest // 4, longest // 2, longest):
        measured = timings(sys.executable, "keyquery", folder, context=tokens, repeat=0)
        (_, captured), (_, plain) = (measured["times"][name][0] for name in ("captured", "plain"))
        rise, plain_rise = (measured["rises"][name] for name in ("captured", "plain"))
        print(f"| {tokens:,} | {captured:.1f} | {plain:.1f} | {rise:.0f} | {plain_rise:.0f} |", flush=True)


def main() -> None:
    """Run the selected measurements and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="Number of repetitions; 0 skips the comparison")
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--long", type=int, default=131072, help="Tokens of the longest text; 0 skips this part.")
    parser.add_argument(
        "--against", action="append", default=[], metavar="NAME=PYTHON", help="A library to compare; repeatable."
    )
    parser.add_argument("--turns", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.turns:
        time_in_turns(chosen.turns, chosen.folder, chosen.context, chosen.repeat, chosen.threads)
        return
    if chosen.peak is not None:
        print_peak(chosen.folder, chosen.peak)
        return
    if chosen.repeat:
        compare_libraries(chosen.repeat, chosen.context, chosen.threads, chosen.against)
    if chosen.long:
        with tempfile.TemporaryDirectory() as name:
            print_long_text(chosen.long, Path(name))


def compare_libraries(repeat: int, context: int, threads: int, against: list[str]) -> None:
    """Print times of plain and captured forward passes in all libraries, and peak memory by number of documents."""
    pythons = {"keyquery": sys.executable} | dict(argument.split("=", 1) for argument in against)
    print("| forwards in turns | documents a second | CPU of a plain one (quartiles) | clock | MB, of a plain one |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = save_model(Path(name))
        for kind, python in pythons.items():
            measured = timings(python, kind, folder, context=context, repeat=repeat, threads=threads)
            plain, captured = (measured["times"][name][1:] for name in ("plain", "captured"))  # the first run warms up
            quartiles = []
            for clock in (1, 0):  # CPU, wall
                ratios = [numerator[clock] / base[clock] for numerator, base in zip(captured, plain, strict=True)]
                low, middle, high = statistics.quantiles(ratios, n=4)
                quartiles.append(f"{middle:.3f} ({low:.3f}-{high:.3f})")
            rate, plain_rate = (1 / statistics.median(wall for wall, _ in times) for times in (captured, plain))
            rises = f"{measured['rises']['captured']:.0f}, {measured['rises']['plain']:.0f}"
            print(f"| {kind} | {rate:.2f}, plain {plain_rate:.2f} | {' | '.join(quartiles)} | {rises} |", flush=True)
        plain_peak, *peaks = [peak_bytes(folder, count) for count in (0, *COUNTS)]
    print(
        f"\npeak of a process that loads the model and runs a forward of {SHORT} tokens: {plain_peak / 2**20:.0f} MiB"
    )
    print("\n| measure | first | second | ratio | goal |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for count, size in zip(COUNTS[1:], peaks[1:], strict=True):
        print(
            f"| peak MiB of a whole capture, {COUNTS[0]} and {count} documents of {SHORT} tokens "
            f"| {peaks[0] / 2**20:.0f} | {size / 2**20:.0f} | {size / peaks[0]:.3f} | flat |"
        )


if __name__ == "__main__":
    main()
