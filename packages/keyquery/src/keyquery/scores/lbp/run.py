"""Answer LongBench Pro with a model, batch by batch; answers are saved at once, so a stopped run can be resumed."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ModelError
from keyquery.measure.bar import Bar
from keyquery.models.answers import chat
from keyquery.models.answers.thoughts import split_thoughts
from keyquery.models.checkpoints.loading import LoadedModel
from keyquery.scores import records
from keyquery.scores.lbp import prompts as lbp_prompts
from keyquery.scores.lbp.data import Sample, fingerprint
from keyquery.scores.lbp.predictions import parse_prediction
from keyquery.scores.lbp.tasks import LENGTHS


@dataclass(frozen=True, kw_only=True)
class LbpSettings:
    """Settings for asking a model the questions of the benchmark.

    `mode` is the prompt mode. In the mode "thinking", models with a thinking mode of their own get the plain question,
    and other models get a question that asks them to reason. `runs` is the number of answers per sample, and `batch`
    the number of prompts per batch. If `limit` or `new_tokens` is None, the benchmark's limits for models of 128k and
    256k positions apply; if `temperature` is None, the model's default. Raises DataError if the temperature is invalid.
    """

    mode: str = "nonthinking"
    runs: int = 3
    batch: int = 1
    limit: int | None = None
    new_tokens: int | None = None
    temperature: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise DataError(f"--temperature {self.temperature}: give 0 or more")


def answer(loaded: LoadedModel, samples: Sequence[Sample], settings: LbpSettings, folder: Path, progress: Bar) -> Path:
    """Let a model answer every sample `settings.runs` times; return the prediction file `FOLDER/MODE.jsonl`.

    Answers of an earlier run with the same settings, model and data are kept. Batches and seeds do not depend on
    interruptions, so answers equal those of an uninterrupted run. Raises DataError if the folder has answers made
    with other settings, or a damaged file; ModelError if the model has no tokenizer, prompts do not fit, or memory
    runs out.
    """
    if loaded.tokenizer is None:
        raise ModelError(f"{loaded.facts['model']}: no tokenizer; give a model with its tokenizer")
    answer_settings = _answer_settings(loaded, samples, settings)
    path = folder / f"{settings.mode}.jsonl"
    records.write_or_match_settings(path, answer_settings, may_differ=("runs",))  # runs may be added
    answered = saved_runs(path)
    total, earlier, start = len(samples) * settings.runs, len(answered), time.monotonic()
    for number, (run, batch) in enumerate(_sample_batches(samples, settings)):
        missing = [sample for sample in batch if (sample.id, run) not in answered]
        if missing:
            rows = _answer_batch(loaded, batch, run, answer_settings, settings.seed + number)
            records.append(path, [rows[sample.id] for sample in missing])
            answered |= {(sample.id, run) for sample in missing}
        rate = max(1, len(answered) - earlier) / max(time.monotonic() - start, 1e-9)
        progress.update(len(answered), total, f"{rate:.2f} answers/s", (total - len(answered)) / rate)
    return path


def saved_runs(path: Path) -> set[tuple[str, int]]:
    """Return the ids and runs in a prediction file; a truncated last line is removed from the file.

    Raises DataError when another line is damaged.
    """
    predictions = (parse_prediction(record, where) for where, record in records.saved_records(path))
    return {(prediction.id, prediction.run) for prediction in predictions}


def _sample_batches(samples: Sequence[Sample], settings: LbpSettings) -> Iterator[tuple[int, list[Sample]]]:
    """Yield run and samples of each batch, with the longest samples first, so that memory runs out at once or never."""
    order = sorted(samples, key=lambda sample: (-LENGTHS.index(sample.length), -len(sample.context), sample.id))
    for run in range(1, settings.runs + 1):
        for start in range(0, len(order), settings.batch):
            yield run, order[start : start + settings.batch]


def _answer_settings(loaded: LoadedModel, samples: Sequence[Sample], settings: LbpSettings) -> dict[str, Any]:
    """Return everything that determines the answers, as JSON values."""
    has_thinking_mode = chat.has_thinking_mode(loaded.tokenizer)
    positions = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
    new_tokens = settings.new_tokens or lbp_prompts.new_tokens_for(settings.mode, positions)
    return {
        "model": records.model_settings(loaded.facts),
        "data": fingerprint(samples),
        "mode": settings.mode,
        "question": "nonthinking" if has_thinking_mode else settings.mode,
        "chat_template": getattr(loaded.tokenizer, "chat_template", None) is not None,
        "runs": settings.runs,
        "batch": settings.batch,
        "positions": positions,
        "limit": lbp_prompts.prompt_limit(positions, new_tokens, settings.limit, str(loaded.facts["model"])),
        "new_tokens": new_tokens,
        "sampling": chat.sampling_options(loaded, settings.temperature),
        "seed": settings.seed,
    }


def _answer_batch(
    loaded: LoadedModel, batch: Sequence[Sample], run: int, settings: dict[str, Any], seed: int
) -> dict[str, dict[str, Any]]:
    """Return the records of a batch by sample id; `settings` are the result of `_answer_settings`."""
    turns, facts = [], []
    mode, limit, positions = settings["mode"], settings["limit"], settings["positions"]
    for sample in batch:
        text = lbp_prompts.user_turn(sample, settings["question"])
        prompt, tokens, was_cut = lbp_prompts.cut_prompt(text, loaded.tokenizer, limit)
        turns.append(chat.chat_prompt(loaded.tokenizer, prompt, thinking=mode == "thinking"))
        if turns[-1].thinking and mode != "thinking":
            raise ModelError(
                f"{settings['model']['model']}: its chat template begins to think although thinking is off; give "
                "--mode thinking, so that the score has the right name"
            )
        facts.append({"prompt_tokens": tokens, "cut": was_cut})
        size = len(turns[-1].tokens) + settings["new_tokens"]
        if positions is not None and size > positions:
            raise ModelError(
                f"sample {sample.id}: prompt and answer take {size} tokens with the chat template, but the model has "
                f"only {positions} positions; give --limit {limit - (size - positions)} or less"
            )
    answers = chat.answers(loaded, turns, settings["new_tokens"], settings["sampling"], seed)
    rows = {}
    for sample, turn, prompt_facts, (text, length) in zip(batch, turns, facts, answers, strict=True):
        prediction, thoughts = split_thoughts(text, opened=turn.thinking)
        rows[sample.id] = {
            "id": sample.id,
            "run": run,
            "mode": mode,
            "prediction": prediction,
            **({"thoughts": thoughts} if thoughts else {}),
            **prompt_facts,
            "new_tokens": length,
        }
    return rows


def command_options(settings: LbpSettings) -> list[str]:
    """Return command-line options for the settings that are not the defaults."""
    values = {name: getattr(settings, name) for name in ("runs", "batch", "limit", "new_tokens", "temperature", "seed")}
    changed = {name: value for name, value in values.items() if value != getattr(LbpSettings(), name)}
    return ["--run", *(f"--{name.replace('_', '-')} {value}" for name, value in changed.items())]
