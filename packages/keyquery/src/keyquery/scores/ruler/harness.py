"""Run RULER's 13 tasks with the program lm-evaluation-harness, one length at a time; finished lengths are kept.

The harness is run as a program, not imported, so that it may be installed in another environment. This project needs
transformers 5, with which the harness cannot load quantized weights.
"""

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from boundpaper.build import process
from boundpaper.errors import DataError, MissingDependency
from boundpaper.store.files import write
from boundpaper.typeset.plural import counted
from keyquery.models.checkpoints.loading import DTYPES, ModelSource
from keyquery.scores.ruler.results import NAMES
from keyquery.scores.ruler.scores import length_tokens

SEED = 42
LOG = "log.txt"
SAMPLES = 500  # samples that the harness makes per task and length
TAIL = 3  # number of last lines of the log that an error quotes
HINTS = (
    (
        ("argument 'load_in_4bit'", "argument 'load_in_8bit'"),
        "It loads quantized weights in a way that transformers 5 refuses: install 'transformers<5' in its environment",
    ),
    (
        ("no network", "connectionerror", "max retries exceeded", "name resolution", "offline mode", "cannot reach"),
        "The tasks of the harness download essays and questions; without a network, use --tasks needles",
    ),
)
INSTALL = (
    "lm-evaluation-harness is not installed here; with '.[ruler]' in a separate environment (python -m venv "
    ".venv-ruler && .venv-ruler/bin/python -m pip install '.[ruler]') give --harness .venv-ruler/bin/lm_eval"
)


def harness_command(harness: str | None) -> list[str]:
    """Return the command line of the harness: the given program, or else the module lm_eval of this Python.

    Raises MissingDependency when there is none.
    """
    if harness is not None:
        program = shutil.which(harness)
        if program is None:
            raise MissingDependency(f"--harness {harness}: no such program; give the path of lm_eval")
        return [str(Path(program).absolute())]
    if find_spec("lm_eval") is None:
        raise MissingDependency(INSTALL)
    return [sys.executable, "-m", "lm_eval"]


def run_harness(
    program: Sequence[str],
    source: ModelSource,
    tasks: Sequence[str],
    lengths: Sequence[str],
    *,
    samples: int,
    batch: int,
    chat_template: bool,
    seed: int,
    folder: Path,
) -> list[Path]:
    """Run tasks at every length and return the result files, one per length.

    Lengths are run separately: the harness applies a sample limit to the samples of all lengths together, so the longer
    lengths would get no samples. The harness caches the answers of an unfinished length. Raises DataError if more
    samples are requested than the harness makes, or if the harness fails; the message ends with the last lines of its
    log.
    """
    if samples > SAMPLES:
        raise DataError(f"--samples {samples} is too many; the harness makes {SAMPLES} per task and length")
    names = [name for name, task in NAMES.items() if task in tasks]
    paths = []
    for length in lengths:
        argv = harness_arguments(source, names, length, samples, batch=batch, chat_template=chat_template, seed=seed)
        length_folder = folder / f"{length}-{_hash(argv)}"  # with a hash, since other options need another folder
        log = length_folder / LOG
        result = result_file(length_folder)
        if result is None:
            print(f"{length}: {counted(len(tasks), 'task')}; the log is {log}", file=sys.stderr, flush=True)
            _run_length(program, argv, length_folder)
            result = result_file(length_folder)
        if result is None:
            raise DataError(f"{length}: the harness ended without a result file; its log is {log}: {_log_tail(log)}")
        paths.append(result)
    return paths


def harness_arguments(
    source: ModelSource, names: Sequence[str], length: str, samples: int, *, batch: int, chat_template: bool, seed: int
) -> list[str]:
    """Return the harness's options for one length, except its output folder."""
    tokens = length_tokens(length)
    model: dict[str, Any] = {"pretrained": source.name, "max_length": tokens}
    model["dtype"] = DTYPES.get(source.dtype, "auto")
    if source.revision is not None:
        model["revision"] = source.revision
    if source.trust_remote_code:
        model["trust_remote_code"] = True
    if source.quantize == "int8":
        model["load_in_8bit"] = True
    elif source.quantize is not None:
        model |= {"load_in_4bit": True, "bnb_4bit_quant_type": source.quantize}
    argv = ["--model", "hf", "--model_args", ",".join(f"{name}={value}" for name, value in model.items())]
    argv += ["--tasks", ",".join(names), "--metadata", json.dumps({"max_seq_lengths": [tokens]})]
    argv += ["--batch_size", str(batch), "--seed", str(seed)]
    argv += ["--device", source.device] * (source.device != "auto")
    argv += ["--limit", str(samples)] * (samples < SAMPLES)
    argv += ["--apply_chat_template"] * chat_template
    return argv


def result_file(folder: Path) -> Path | None:
    """Return the newest result file of a run; None if the run is not finished."""
    return max(folder.glob("**/results_*.json"), key=lambda path: path.name, default=None)


def _hash(argv: Sequence[str]) -> str:
    return hashlib.blake2b("\0".join(argv).encode(), digest_size=4).hexdigest()


def _run_length(program: Sequence[str], argv: Sequence[str], folder: Path) -> None:
    write(folder / "options.json", (json.dumps(list(argv)) + "\n").encode())
    outputs = ["--output_path", str(folder), "--log_samples", "--use_cache", str(folder / "answers")]
    log = folder / LOG
    try:
        with log.open("wb") as stream:
            returncode = process.run_shown([*program, *argv, *outputs], Path.cwd(), stream)
    except (MissingDependency, OSError) as error:
        raise DataError(f"{program[0]}: cannot be run ({error})") from error
    if returncode:
        raise DataError(f"the harness ended with status {returncode}; log: {log}: {_log_tail(log)}{_advice(log)}")


def _advice(log: Path) -> str:
    """Return advice for a known failure in the log; empty for other failures."""
    text = log.read_text(encoding="utf-8", errors="replace").lower()
    for words, hint in HINTS:
        if any(word in text for word in words):
            return f". {hint}"
    return ""


def _log_tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip()]
    return " / ".join(messages[-TAIL:]) or "it is empty"
