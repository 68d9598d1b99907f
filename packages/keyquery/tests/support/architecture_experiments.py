"""Run every experiment on a small random model of every causal architecture of transformers, and tabulate outcomes.

    python packages/keyquery/tests/support/architecture_experiments.py [TYPE...]

Each model is saved to a folder, loaded like any user's model, and tested in the language of the small models.
Finished cells are kept in `out/architectures`, so that a stopped run can resume. A full run writes
docs/architecture-experiments.csv and .md; with TYPEs, their cells are printed. Each model runs in a separate process,
which may crash alone.
"""

import csv
import io
import json
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import architectures
from boundpaper.errors import DataError, ModelError, ThesisError
from boundpaper.typeset.plural import counted
from keyquery.experiments import geometry, head_ablation
from keyquery.measure.choices import BY_NAME, EXPERIMENTS
from keyquery.measure.heads import captured
from keyquery.measure.run import experiment
from keyquery.measure.subject import CARD, Options
from keyquery.models import libraries
from keyquery.models.answers.scoring import grouped_logprobs
from keyquery.opened import Model, load

SECONDS = 400  # seconds per cell, on a machine with other work
NAMES = (*EXPERIMENTS, *BY_NAME)
LENGTH = 64  # training length of the models, and number of their positions
OPTIONS = Options(texts=2, tokens=32, items=1)
DOCUMENTS = 36  # queries per bin of a capture, 30 of which are needed
# by experiment: the parts that depend on the architecture, as small as possible
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"swept_items": 0} for name in ("bos_value", "layer_ablation", "sinks")},
    "anchoring": {"train": 24, "test": 8},
    "context_length": {"ratios": [1.0, 2.0]},
    "disruption": {"draws": 1, "permutations": 2, "rank_texts": 1, "selects": ["top1"], "ranked": ["top1_zero"]},
    "knowledge": {"draws": 1},
}
LAYERS = dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2)
ROUNDING = 1e-3  # nats per token
COMMAND = "python packages/keyquery/tests/support/architecture_experiments.py"
STORED = Path("out/architectures/cells.jsonl")
PAGE = Path("docs/architecture-experiments.md")
CLASS = re.compile(r"\b[A-Z]\w*(Attention|MLA|DecoderLayer|Block|Layer|RotaryEmbedding|ForCausalLM|Model)\w*")
RUNS, REFUSED, FAILED, NOT_BUILT = "runs", "refused", "failed", "not built"
FIRST = "llama"
LOADING = "loading"  # entry instead of an experiment, if the model cannot be loaded


@dataclass(frozen=True)
class Cell:
    """Outcome of one experiment on one architecture, and its reason; `failed` is a bug to fix."""

    type: str
    experiment: str
    outcome: str
    reason: str = ""


def cells(kind: str, names: Sequence[str] = NAMES) -> Iterator[Cell]:
    """Yield the outcomes of all experiments on a small model of a type."""
    captured.DOCUMENTS = DOCUMENTS
    head_ablation.DRAWS = 1
    try:
        model = _smallest(kind)
    except ModelError as error:
        yield from (Cell(kind, name, NOT_BUILT, _shortened(kind, str(error))) for name in names)
        return
    with tempfile.TemporaryDirectory() as folder:
        opened: list[Model] = []
        loading = _outcome(kind, LOADING, lambda: opened.append(_reopened(model, Path(folder) / kind)))
        for name in names:
            if not opened:
                yield Cell(kind, name, loading.outcome, loading.reason)
                continue
            yield _outcome(kind, name, lambda name=name: _run(name, opened[0], Path(folder)))  # type: ignore[misc]


def _smallest(kind: str) -> Any:
    """Return a model of two layers, or of the layers of `architectures.SIZES` if two layers lack a kind of layer."""
    from keyquery.language.words import WORDS

    vocabulary_sizes = ("vocab_size", "vocab_size_per_layer_input", "src_vocab_size", "tgt_vocab_size")
    vocabulary = dict.fromkeys(vocabulary_sizes, len(WORDS))
    try:
        config = architectures.small(kind, **vocabulary, **LAYERS)
        if _kinds(config) == _kinds(architectures.small(kind)):
            return architectures.built(kind, **vocabulary, **LAYERS)
    except Exception:  # an architecture may have lists that do not fit two layers
        pass
    return architectures.built(kind, **vocabulary)


def _kinds(config: Any) -> set[str]:
    text = config.get_text_config()
    return {str(kind) for name in ("layer_types", "layers_block_type") for kind in getattr(text, name, None) or ()}


def _reopened(model: Any, folder: Path) -> Model:
    """Save the model with the tokenizer of the small language, and load it again."""
    from keyquery.language.tokenizer import build_tokenizer

    model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    (folder / CARD).write_text(json.dumps({"language": "population", "training_length": LENGTH}), encoding="utf-8")
    return load(str(folder))


def _run(name: str, model: Model, root: Path) -> None:
    """Run one experiment; raise DataError with the reasons in its rows if no row has a value."""
    if name == geometry.__name__.rpartition(".")[2]:
        geometry.write(root, model.subject, OPTIONS, replace=True)
        return
    rows = experiment(name).measure(model.subject, OPTIONS, **SETTINGS.get(name, {}))
    if name == "context_length":
        _compare_choices(model)
    if all(row["value"] is None for row in rows):
        raise DataError("; ".join(sorted({str(row["reason"]) for row in rows})) or "the experiment gave no row")


def _compare_choices(model: Model) -> None:
    """Raise ValueError if answers of several tokens have other probabilities with a key cache than in a full pass."""
    net, tokenizer = model.subject.model, model.subject.tokenizer
    ids = [i for i in range(len(tokenizer)) if i not in tokenizer.all_special_ids]
    prompt, *endings = (str(tokenizer.decode(ids[i : i + 8])) for i in (8, 16, 24))
    answers = (str(tokenizer.decode(ids[:3])), str(tokenizer.decode(ids[3:5])))
    group = [(prompt, answers), *((f"{prompt} {end}", answers) for end in endings)]
    [all_scores] = grouped_logprobs(net, tokenizer, [group])
    for (question, _), scores in zip(group, all_scores, strict=True):
        for answer, score in zip(answers, scores.logprobs, strict=True):
            [tokens] = tokenizer(f"{question} {answer}", return_tensors="pt")["input_ids"]
            with libraries.torch.inference_mode():
                logprobs = net(input_ids=tokens[None], use_cache=False).logits[0, :-1].float().log_softmax(-1)
            answer_tokens = len(tokenizer(answer, add_special_tokens=False)["input_ids"])
            positions = range(len(tokens) - answer_tokens, len(tokens))
            logprob = sum(float(logprobs[i - 1, tokens[i]]) for i in positions)
            if abs(logprob - score) > ROUNDING * answer_tokens:
                raise ValueError("answers scored with the cache have other probabilities than in a whole pass")


def _outcome(kind: str, name: str, step: Callable[[], None]) -> Cell:
    """Run a step for at most SECONDS; return its outcome."""
    try:
        with architectures._limited(SECONDS):
            step()
    except architectures._TooLong as error:
        return Cell(kind, name, FAILED, str(error))
    except ThesisError as error:
        return Cell(kind, name, REFUSED, _shortened(kind, str(error)))
    except Exception as error:  # code of any architecture runs here
        traceback.print_exc()
        frames = reversed(traceback.extract_tb(error.__traceback__))
        frame = next((frame for frame in frames if "keyquery/src" in frame.filename), None)
        location = f" ({Path(frame.filename).name}:{frame.lineno})" if frame else ""
        return Cell(kind, name, FAILED, _shortened(kind, f"{type(error).__name__}: {error}{location}"))
    return Cell(kind, name, RUNS)


def _shortened(architecture: str, text: str) -> str:
    """Return a reason in one line, without names given in its row and without the folder of this run."""
    text = re.sub(r"^(\S*/)?" + re.escape(architecture) + r"[\w-]*: ", "", " ".join(text.split()))
    text = re.sub(r"^\w+ \(model type [\w-]+\)[: ] ?", "", text)
    text = re.sub(r"\S*/tmp\S*/", "", text)
    return re.sub(r"\b\d+\.\d+(e-?\d+)?\b", "...", text)[:400]


def _append(kind: str, names: Sequence[str], file: Path) -> None:
    """Run experiments on a type and append each cell to a file."""
    before = time.process_time()
    for cell in cells(kind, names):
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**asdict(cell), "seconds": round(time.process_time() - before, 2)}) + "\n")
        before = time.process_time()


def surveyed(kinds: Sequence[str], file: Path) -> list[Cell]:
    """Return the cells of all types: those stored in a file, and missing ones, computed now."""
    file = file.absolute()
    file.parent.mkdir(parents=True, exist_ok=True)
    libraries.torch.set_num_threads(1)
    # on one core, experiments start no processes of their own
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})
    os.chdir(tempfile.mkdtemp())  # outside any project
    list(cells(FIRST))  # imported and compiled here, so that each forked process has it
    context = multiprocessing.get_context("fork")
    stored = _stored(file)
    for kind in kinds:
        while missing := [name for name in NAMES if (kind, name) not in stored]:
            child = context.Process(target=_append, args=(kind, missing, file))
            child.start()
            child.join(SECONDS * (len(missing) + 1))
            if child.is_alive():
                child.kill()
                child.join()
            stored = _stored(file)
            unanswered = [name for name in missing if (kind, name) not in stored]
            if unanswered:
                code = child.exitcode or 0
                reason = f"the process ended ({signal.Signals(-code).name})" if code < 0 else "no answer"
                stored[kind, unanswered[0]] = Cell(kind, unanswered[0], FAILED, reason)
                with file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(stored[kind, unanswered[0]])) + "\n")
            outcomes = Counter(stored[kind, name].outcome for name in missing if (kind, name) in stored)
            print(kind, dict(outcomes), flush=True)
    return [stored[kind, name] for kind in kinds for name in NAMES]


def _stored(file: Path) -> dict[tuple[str, str], Cell]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    records = (json.loads(line) for line in lines)
    cells = (Cell(**{name: value for name, value in record.items() if name != "seconds"}) for record in records)
    return {(cell.type, cell.experiment): cell for cell in cells}


def main() -> None:
    """Complete the table and write it, or print the cells of given types."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    libraries.transformers.utils.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    root = Path.cwd()
    cells = surveyed(sys.argv[1:] or architectures.types(), STORED)
    if sys.argv[1:]:
        print(table(cells), end="")
        return
    (root / PAGE).write_text(page(cells), encoding="utf-8")
    (root / PAGE.with_suffix(".csv")).write_text(table(cells), encoding="utf-8")


def table(cells: Iterable[Cell]) -> str:
    """Return the cells as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("type", "experiment", "outcome", "reason"))
    writer.writerows((cell.type, cell.experiment, cell.outcome, cell.reason) for cell in cells)
    return stream.getvalue()


def page(cells: Sequence[Cell]) -> str:
    """Return the table as a Markdown page: a row per architecture, a column per experiment, numbered reasons."""
    by_type: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        by_type.setdefault(cell.type, {})[cell.experiment] = cell
    uniform = {
        kind: next(iter(row.values())) for kind, row in by_type.items() if len({*map(_reason_text, row.values())}) == 1
    }
    refused_types = {kind: cell for kind, cell in uniform.items() if cell.outcome != RUNS}
    shown = {kind: row for kind, row in by_type.items() if kind not in refused_types}
    reasons = Counter(_reason_text(cell) for row in shown.values() for cell in row.values() if cell.outcome != RUNS)
    numbers = {reason: number for number, (reason, _) in enumerate(reasons.most_common(), start=1)}
    counts = Counter(cell.outcome for row in shown.values() for cell in row.values())
    not_built = [kind for kind, cell in refused_types.items() if cell.outcome == NOT_BUILT]
    lines = [
        "# Architectures by experiments",
        "",
        f"Written by `{COMMAND}`; do not edit it by hand.",
        f"`{PAGE.with_suffix('.csv').name}` beside this page has every cell of the table with its complete reason.",
        "",
        f"{counted(len(by_type), 'causal architecture')} of transformers {libraries.version('transformers')} were "
        "tested as small models with random weights, which were saved, and then loaded and measured like any model.",
        f"The table shows {len(shown)} of them: in {counts[RUNS]} cells the experiment runs, and in {counts[REFUSED]} "
        f"it is refused, for {counted(len(numbers), 'numbered reason')}.",
        f"{len(refused_types) - len(not_built)} other architectures are refused by every experiment, "
        f"and {len(not_built)} were not built small here.",
        "",
        f"Sizes are as small as the architectures allow: {OPTIONS.texts} texts of {OPTIONS.tokens} tokens, "
        f"{counted(OPTIONS.items, 'item')} of a task,",
        f"{DOCUMENTS} documents of a capture, and models with at most {LENGTH} learned positions, which count as "
        f"trained on {LENGTH} tokens.",
        "`geometry` is the capture and the analysis of heads, as by the commands `capture` and `heads`.",
        "",
        "| type | " + " | ".join(name.replace("_", "<br>") for name in NAMES) + " |",
        "| --- |" + " :-: |" * len(NAMES),
        *(
            f"| `{kind}` | "
            + " | ".join(
                "yes" if row[name].outcome == RUNS else str(numbers[_reason_text(row[name])]) for name in NAMES
            )
            + " |"
            for kind, row in shown.items()
        ),
        "",
        "## Reasons",
        "",
        "Classes and layers differ by architecture, and `architecture-experiments.csv` names them.",
        "",
        "| number | cells | why |",
        "| --: | --: | --- |",
        *(f"| {numbers[reason]} | {count} | {reason} |" for reason, count in reasons.most_common()),
        "",
        "## Refused by every experiment",
        "",
        "| type | why |",
        "| --- | --- |",
        *(f"| `{kind}` | {_reason_text(cell)} |" for kind, cell in refused_types.items() if kind not in not_built),
        "",
        "## Not built small here",
        "",
        "| type | why |",
        "| --- | --- |",
        *(f"| `{kind}` | {_reason_text(refused_types[kind])} |" for kind in not_built),
        "",
    ]
    if not_run := [kind for kind in architectures.types() if kind not in by_type]:
        lines += [
            "## Not yet run",
            "",
            ", ".join(f"`{kind}`" for kind in not_run) + ": run the command again to measure them.",
            "",
        ]
    return "\n".join(lines)


def _reason_text(cell: Cell) -> str:
    """Return a reason without class and layer names, which differ by architecture; empty if the experiment runs."""
    text = CLASS.sub("a class", cell.reason)
    text = re.sub(r"\b(of|in) layer \d+\b", r"\1 a layer", text)
    return re.sub(r"\blayers? \d+(, \d+)*\b", "layers", text).replace("|", "/").replace("<", "&lt;")


if __name__ == "__main__":
    main()
