"""Ask a model for needles in generated noise; answers are saved at once, so a stopped run can be resumed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ModelError
from boundpaper.store.validation import short
from keyquery.measure.bar import Bar
from keyquery.models.answers.generation import greedy
from keyquery.models.answers.thoughts import opens_thinking, split_thoughts
from keyquery.models.checkpoints.loading import LoadedModel
from keyquery.models.checkpoints.memory import exhausted
from keyquery.scores import records
from keyquery.scores.ruler import needles as ruler_needles
from keyquery.scores.ruler.needles import NEW_TOKENS, Needle
from keyquery.scores.ruler.scores import Score, length_tokens, share_contained


@dataclass(frozen=True, kw_only=True)
class RulerSettings:
    """Settings for asking a model for needles.

    A length limits the tokens of prompt and answer together. `samples` is the number of samples per task and length; if
    it is a multiple of 40, all depths occur equally often. `seed` is for making the needles. With `chat_template`, the
    question is a user turn of the model's template, and the beginning of the answer follows the turn.
    """

    tasks: tuple[str, ...] = ruler_needles.TASKS
    lengths: tuple[str, ...] = ()
    samples: int = 500
    seed: int = ruler_needles.SEED
    batch: int = 1
    chat_template: bool = False


def answer_needles(loaded: LoadedModel, settings: RulerSettings, folder: Path, progress: Bar) -> Path:
    """Ask for every needle with greedy decoding; return the file of records `FOLDER/needles.jsonl`.

    A record has id, task, length, depth, prompt tokens, references, prediction and score. Answers of an earlier run
    with the same settings and model are kept; more lengths, tasks or samples may be added. Raises DataError if a
    length is too short for the needles, the tokenizer cannot encode their numbers, or the folder has answers with
    other settings. Raises ModelError if a length exceeds the model's number of positions, the tokenizer or a requested
    chat template is missing, or memory runs out.
    """
    prompts = _Prompts(loaded, chat=settings.chat_template)
    positions = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
    sizes = [(length, length_tokens(length)) for length in settings.lengths]
    require_positions(str(loaded.facts["model"]), positions, sizes)
    tokenizer = loaded.tokenizer
    ruler_needles.require_numbers(
        lambda text: str(tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True))
    )
    path = folder / "needles.jsonl"
    records.write_or_match_settings(path, answer_settings(loaded, settings))
    answered = {record["id"] for _, record in records.saved_records(path)}
    total = len(settings.tasks) * len(settings.lengths) * settings.samples
    finished, start = 0, time.monotonic()
    for length in settings.lengths:
        for task in settings.tasks:
            needles = ruler_needles.make_samples(
                task, length, length_tokens(length), settings.samples, prompts.count, settings.seed
            )
            unanswered = [sample for sample in needles if sample.id not in answered]
            finished += len(needles) - len(unanswered)
            for first in range(0, len(unanswered), settings.batch):
                batch = unanswered[first : first + settings.batch]
                records.append(path, _answer_batch(loaded, prompts, batch))
                finished += len(batch)
                rate = finished / max(time.monotonic() - start, 1e-9)
                progress.update(finished, total, f"{length} {task}", (total - finished) / rate)
    return path


def score_records(path: Path, settings: RulerSettings) -> list[Score]:
    """Return the scores of a run's records by task and length.

    Raises DataError if records are damaged, duplicated or missing.
    """
    score_of_id: dict[str, float] = {}
    for where, record in records.saved_records(path):
        task, length, prediction = (record.get(name) for name in ("task", "length", "prediction"))
        references = record.get("references")
        texts = [task, length, prediction, *references] if isinstance(references, list) else []
        if not isinstance(references, list) or not references or not all(isinstance(text, str) for text in texts):
            raise DataError(f"{where}: not a record of a needle; remove the line")
        if record["id"].rpartition("-")[0] != f"{task}-{length}":
            raise DataError(f"{where}: {short(record['id'])} is not the id of {task} at {length}; remove the line")
        if record["id"] in score_of_id:
            raise DataError(f"{where}: {short(record['id'])} appears twice; remove one of the lines")
        score_of_id[record["id"]] = share_contained(split_thoughts(str(prediction)).answer, references)
    cells = []
    for length in settings.lengths:
        for task in settings.tasks:
            ids = [f"{task}-{length}-{number:04d}" for number in range(settings.samples)]
            missing = [name for name in ids if name not in score_of_id]
            if missing:
                raise DataError(f"{path}: no answer to {missing[0]} and {len(missing) - 1} more; run the command again")
            value = 100 * sum(score_of_id[name] for name in ids) / len(ids)
            cells.append(Score(task=task, length=length, value=value, n=len(ids)))
    return cells


def answer_settings(loaded: LoadedModel, settings: RulerSettings) -> dict[str, Any]:
    """Return the settings that determine a needle's answer, as JSON values; lengths, tasks and samples are excluded."""
    return {
        "model": records.model_settings(loaded.facts),
        "seed": settings.seed,
        "batch": settings.batch,  # padding changes scores by rounding, which may decide a tie
        "chat_template": settings.chat_template,
        "new_tokens": NEW_TOKENS,
    }


class _Prompts:
    """Prompts for a model, plain or in its chat template, and their numbers of tokens."""

    def __init__(self, loaded: LoadedModel, *, chat: bool) -> None:
        self._tokenizer = loaded.tokenizer
        self._chat = chat
        name = loaded.facts["model"]
        if self._tokenizer is None:
            raise ModelError(f"{name}: no tokenizer; give a model with its tokenizer")
        if chat and getattr(self._tokenizer, "chat_template", None) is None:
            raise ModelError(f"{name}: its tokenizer has no chat template; leave --chat-template out")
        if chat and opens_thinking(self.text("a", "")):
            raise ModelError(
                f"{name}: its chat template starts thinking, which may not end within {NEW_TOKENS} tokens; "
                "leave --chat-template out"
            )

    def text(self, question: str, answer_start: str) -> str:
        """Return question and beginning of the answer, without the BOS token, which the tokenizer adds."""
        if not self._chat:
            return f"{question} {answer_start}" if answer_start else question
        turn = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        bos = self._tokenizer.bos_token
        if bos and turn.startswith(bos) and self._tokenizer("a")["input_ids"][0] == self._tokenizer.bos_token_id:
            turn = turn[len(bos) :]  # otherwise the prompt would begin with two BOS tokens
        return f"{turn}{answer_start}"

    def count(self, question: str, answer_start: str) -> int:
        return len(self._tokenizer(self.text(question, answer_start), verbose=False)["input_ids"])


def require_positions(name: str, positions: int | None, lengths: Sequence[tuple[str, int]]) -> None:
    """Raise ModelError if lengths (key and tokens) exceed a model's positions; the message names usable lengths."""
    too_long = [length for length, tokens in lengths if positions is not None and tokens > positions]
    if too_long:
        usable = [length for length, _ in lengths if length not in too_long]
        advice = f"give --lengths {','.join(usable)}" if usable else f"give --lengths of {positions} tokens at most"
        raise ModelError(f"{name}: too long: {', '.join(too_long)}; the model has only {positions} positions; {advice}")


def _answer_batch(loaded: LoadedModel, prompts: _Prompts, batch: Sequence[Needle]) -> list[dict[str, Any]]:
    texts = [prompts.text(sample.question, sample.answer_start) for sample in batch]
    try:
        answers = greedy(loaded.model, loaded.tokenizer, texts, NEW_TOKENS, len(batch), pad=True)
    except Exception as error:
        if not exhausted(error):
            raise
        longest = max(sample.tokens for sample in batch)
        advice = "give a smaller --batch" if len(batch) > 1 else "leave the length out, or give --dtype bf16"
        raise ModelError(f"{batch[0].id}: memory runs out with prompts of {longest} tokens; {advice}") from error
    return [
        {
            "id": sample.id,
            "task": sample.task,
            "length": sample.length,
            "depth": sample.depth,
            "tokens": sample.tokens,
            "references": list(sample.references),
            "prediction": text,
            "score": share_contained(split_thoughts(text).answer, sample.references),
        }
        for sample, text in zip(batch, answers, strict=True)
    ]
