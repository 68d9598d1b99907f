"""Write the model card of an offline subject: description, training, measured abilities, and limits."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.population.recipe import ARMS
from keyquery.language.words import WORDS

OTHERS = "`tiny-rope` (arm A), `tiny-continued` (arm B), `tiny-drope` (arm C)"


def card_text(facts: Mapping[str, Any], keys: pd.DataFrame, tasks: pd.DataFrame) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    facts : mapping
        Facts from `lab.json`.
    keys, tasks : DataFrame
        The model's rows of `population_keys` and `population_tasks`.
    """
    shape, stage = facts["shape"], facts["stage"]
    more = f" and {facts['rounds']} extensions" if facts["rounds"] else ""
    met = "meets" if facts["reached"] else "misses"
    begun = "" if facts["start"] == "none" else f", from the weights of `{facts['start']}`"
    lines = [
        "---",
        "license: mit",
        "pipeline_tag: text-generation",
        "---",
        f"# {facts['name']}",
        "",
        f"Model `{facts['model']}` of the population of small models of this project: a causal language model of "
        f"{facts['parameters']:,} parameters, arm {facts['arm']} ({ARMS[facts['arm']]}), base {facts['base']}, "
        f"seed {facts['training_seed']}. The subjects that ship are {OTHERS}; B and C started from A and read the "
        "same documents, step by step.",
        "",
        "## Recipe",
        "",
        f"- Llama architecture: {shape['layers']} layers, width {shape['width']}, {shape['heads']} heads, MLP of "
        f"{shape['inner']}, tied embeddings, vocabulary of {len(WORDS)} words, float16.",
        f"- Trained for {facts['steps']:,} steps{begun}: {stage['steps']:,} steps with {stage['rows']} sequences of "
        f"{facts['training_length']} tokens each{more}. Muon at {stage['muon']:g}, AdamW at {stage['adam']:g}.",
        f"- Nats a word of the answers to held-out questions for keys: {facts['key_loss']:.4f}; the model {met} the "
        f"criterion of {facts['criterion']:g}.",
        f"- Hash of the weights {facts['weights']}, of the recipe {facts['recipe']}. Made again by "
        f"`python build.py lab population --seed {facts['training_seed']} --base {facts['base']} "
        f"--arm {facts['arm']}`, then `--export`.",
        "",
        "## Evaluation",
        "",
        "Answers that are exact, the full stop included, in percent of those asked. Columns: length of the prompt as a "
        f"multiple of the training length of {facts['training_length']} tokens; 0 is the question alone.",
        "",
        *_table(keys, tasks),
        "",
        "## Limits",
        "",
        "- The language is synthetic and its facts are invented.",
        "- Tasks with `held` ask for facts that the second phase left out; yes/no and statements are guessed right "
        "half the time.",
        "- This is one seed of the population; differences between arms are judged over seeds, in the thesis.",
        "",
    ]
    return "\n".join(lines)


def _table(keys: pd.DataFrame, tasks: pd.DataFrame) -> list[str]:
    own = keys[keys["encoding"] == "own"].assign(task="keys")
    rows = pd.concat([own[["task", "multiple", "asked", "right"]], tasks[["task", "multiple", "asked", "right"]]])
    share = (100 * rows["right"] / rows["asked"]).map("{:.1f}".format)
    cells = rows.assign(cell=share).pivot(index="task", columns="multiple", values="cell").fillna("")
    columns = [f"{multiple:g}x" if multiple else "0" for multiple in cells.columns]
    order = ["keys", *sorted(set(cells.index) - {"keys"})]
    return [
        f"| task | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {task} | {' | '.join(cells.loc[task])} |" for task in order),
    ]
