"""The card of a tiny model: what it is, how it was made, what it can, and what it cannot show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.lab.examine import MULTIPLES, Score
from analysis.lab.language import WORDS

WHAT = {
    "rope": "A causal language model of {parameters} parameters with rotary position encoding, trained from scratch on "
    "the tiny synthetic language of this project. Its twin without rotation is `tiny-drope`.",
    "drope": "A causal language model of {parameters} parameters without position encoding: the weights of "
    "`tiny-rope`, the rotation switched off (a linear scaling by 1e30 makes it the identity), and training continued.",
}


def text(positional: str, facts: Mapping[str, Any], scores: Sequence[Score]) -> str:
    """The card as Markdown.

    Parameters
    ----------
    positional : {"rope", "drope"}
    facts : mapping
        Of `lab.json`.
    scores : sequence of Score
        The final evaluation.
    """
    recipe, phase = facts["recipe"], facts["recipe"][positional]
    how = [
        f"- Llama architecture: {recipe['layers']} layers, width {recipe['width']}, {recipe['heads']} heads, MLP of "
        f"{recipe['inner']}, tied embeddings, vocabulary of {len(WORDS)} words, published in float16.",
        f"- {phase['steps']} steps of {recipe['rows']} sequences of {recipe['length']} tokens"
        + (f", the first {phase['short_steps']} of {phase['short_length']}" if phase["short_steps"] else "")
        + f"; training seed {facts['training_seed']}, {facts['threads']} thread(s).",
        f"- Muon (rate {phase['muon']:g}) on value, output and MLP matrices, AdamW (rate {phase['adam']:g}) on the "
        f"rest; warm-up of {phase['warm']} steps, flat to {phase['flat']:.0%}, linear decay to {phase['floor']:.0%}.",
        "- Words of answers weigh more in the loss than others.",
    ]
    seed = facts["training_seed"]
    lines = [
        "---",
        "license: mit",
        "language: lab",
        "pipeline_tag: text-generation",
        "---",
        f"# tiny-{positional}",
        "",
        WHAT[positional].format(parameters=f"{facts['parameters']:,}"),
        "",
        "## Recipe",
        "",
        *how,
        f"- Made again by `python build.py lab train --seed {seed}`: same library versions and threads, same weights.",
        "",
        "## Evaluation",
        "",
        f"Share of items answered exactly by greedy decoding, in percent, with Wilson's 95 % interval; "
        f"{max(score.n for score in scores)} items a cell. Columns: the question alone (for tasks with a key there is "
        f"none), then prompts filled up to multiples of the training length of {recipe['length']} tokens.",
        "",
        *_table(scores),
        "",
        "## Limits",
        "",
        "- The language is synthetic, its facts are invented, and all of them were seen in training.",
        "- Guessing gives 50 % on questions with two answers (cities, sports, sentiment, statements, verification).",
        "- A model of this size stands for nothing larger: what shows here is a measurement of this pair alone.",
        "- This is one training: the intervals are over items, not over seeds.",
        "",
    ]
    return "\n".join(lines)


def _table(scores: Sequence[Score]) -> list[str]:
    columns = ("bare", *MULTIPLES)
    cells = {(score.task, score.length): _cell(score) for score in scores}
    tasks = list(dict.fromkeys(score.task for score in scores))
    return [
        f"| task | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {task} | {' | '.join(cells.get((task, column), '') for column in columns)} |" for task in tasks),
    ]


def _cell(score: Score) -> str:
    low, high = score.interval()
    return f"{100 * score.share:.1f} ({100 * low:.1f} to {100 * high:.1f})"
