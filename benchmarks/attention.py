# ruff: noqa: E402
"""Time and memory of exact attention statistics, compared with a plain forward pass of the same model and text.

    python benchmarks/attention.py [--repeat 5] [--tokens 2048,8192] [--long 131072]

The model is a Llama of 4 layers and 4 heads of 32 dimensions with random weights; it runs in one thread. The script
prints ratios of CPU seconds: both programs take turns, and the fastest run of each counts. The plain forward uses the
`sdpa` kernel. Memory is the rise of the peak memory in a separate process. `--long N` also runs texts of N/8, N/4, N/2
and N tokens through one layer, and prints seconds, memory, and the exponent with which memory grows.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from benchmarks.clock import memory_in_mb, seconds_of_one_call
from keyquery.models.architecture import forward, run_forward
from keyquery.models.attention.calls import Call
from keyquery.models.attention.statistics import AttentionStatistics, attention_statistics


def tiny_model(layers: int = 4) -> PreTrainedModel:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=257,
        hidden_size=128,
        intermediate_size=344,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=1 << 17,
    )
    model = transformers.LlamaForCausalLM(config)
    model.train(False)
    return model


def random_text(tokens: int) -> Tensor:
    return torch.randint(0, 257, (1, tokens), generator=torch.Generator().manual_seed(0))


def read_with_statistics(model: PreTrainedModel, ids: Tensor) -> list[AttentionStatistics]:
    """Run a forward pass with exact attention statistics of every head; return the statistics of each layer."""
    by_layer: list[AttentionStatistics] = []

    def keep(call: Call) -> None:
        by_layer.append(attention_statistics(call))

    forward(model, ids, keep)
    return by_layer


KINDS: dict[str, Callable[..., object]] = {"plain": run_forward, "statistics": read_with_statistics}


def measure_peak(kind: str, tokens: int, layers: int) -> None:
    """Print CPU seconds, and the rise of peak memory in MB. Call this in a separate process."""
    model = tiny_model(layers)
    KINDS[kind](model, random_text(64))
    before = memory_in_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    seconds = seconds_of_one_call(partial(KINDS[kind], model, random_text(tokens)))
    print(seconds, memory_in_mb("VmHWM") - before)


def measure_in_process(kind: str, tokens: int, layers: int = 4) -> tuple[float, float]:
    command = [sys.executable, __file__, "--peak", kind, str(tokens), str(layers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seconds, rise = done.stdout.split()[-2:]
    return float(seconds), float(rise)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tokens", default="2048,8192")
    parser.add_argument("--long", type=int, default=131072, help="tokens of the longest text; 0 skips this part")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.peak:
        measure_peak(chosen.peak[0], int(chosen.peak[1]), int(chosen.peak[2]))
        return
    model = tiny_model()
    read_with_statistics(model, random_text(64))
    print("| tokens | plain pass, CPU s | with statistics, CPU s | ratio | additional memory, MB |")
    print("|--:|--:|--:|--:|--:|")
    for tokens in (int(number) for number in chosen.tokens.split(",") if number):
        actions = {kind: partial(read, model, random_text(tokens)) for kind, read in KINDS.items()}
        runs = [{kind: seconds_of_one_call(action) for kind, action in actions.items()} for _ in range(chosen.repeat)]
        least = {kind: min(run[kind] for run in runs) for kind in actions}
        added = measure_in_process("statistics", tokens)[1] - measure_in_process("plain", tokens)[1]
        print(
            f"| {tokens:,} | {least['plain']:.3f} | {least['statistics']:.3f} "
            f"| {least['statistics'] / least['plain']:.2f} | {added:.0f} |",
            flush=True,
        )
    if chosen.long:
        print_long_text(chosen.long)


def print_long_text(longest: int) -> None:
    """Print the cost of texts of four lengths in one layer. An exponent of 1 means that memory grows linearly."""
    print("\n| tokens, one layer | with statistics CPU s | MB above the loaded model | exponent of the memory |")
    print("|--:|--:|--:|--:|")
    before = 0.0
    for tokens in (longest // 8, longest // 4, longest // 2, longest):
        seconds, rise = measure_in_process("statistics", tokens, 1)
        exponent = f"{math.log2(rise / before):.2f}" if before else ""
        print(f"| {tokens:,} | {seconds:.0f} | {rise:.0f} | {exponent} |", flush=True)
        before = rise


if __name__ == "__main__":
    main()
