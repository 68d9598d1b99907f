"""English statements about cities and athletes whose truth is known by construction."""

import random
from collections.abc import Sequence
from typing import Any

from keyquery.models.answers.forwards import encode
from keyquery.tasks import english_prose as prose
from keyquery.tasks.english_facts import ATHLETES, CITIES
from keyquery.tasks.items import Item

TASK = "statements"
LENGTH = 48  # default number of tokens of a prompt
TRUE, FALSE = "true", "false"
QUESTION, ANSWER = "question", "answer"  # what suffices to see that a statement is false
STEMS = {"cities": "{subject} is a city in", "sports": "{subject} is known for playing"}  # text before the object
FACTS = {"cities": CITIES, "sports": ATHLETES}
UNFITTING = (  # objects of no subject
    "butter", "Tuesday", "silence", "wallpaper", "thunder", "mustard", "copper", "laughter", "velvet", "arithmetic",
)  # fmt: skip


def make_statements(count: int, length: int | None, tokenizer: Any, rng: random.Random) -> list[Item]:
    """Return `count` statements, each after filler; half of them are true, and relations alternate.

    Half of the false statements name another subject's object: the subject is needed to see that they are false
    (`group` "question"). The other half name an object of no subject: the object suffices (`group` "answer"). `length`
    is the number of tokens of the prompt, which the last sentence of the filler may exceed.
    """
    items = []
    for number in range(count):
        relation = tuple(STEMS)[number % 2]
        subject, true_object = rng.choice(FACTS[relation])
        objects = objects_of(relation)
        truth, group = number // 2 % 2 == 0, (QUESTION, ANSWER)[number // 4 % 2]
        stated_object = true_object
        if not truth:
            other_objects = [word for word in objects if word != true_object]
            stated_object = rng.choice(other_objects if group == QUESTION else UNFITTING)
        stem = STEMS[relation].format(subject=subject)
        facts: dict[str, Any] = {"subject": subject, "property": relation, "question": stem.split()}
        facts |= {"answer_text": stated_object, "truth": truth, "group": group}
        facts |= {"true": true_object, "objects": list(objects)}
        statement = f"{stem} {stated_object}."
        prompt = f"{_filler_text(statement, length or LENGTH, tokenizer, rng)} {statement}"
        items.append(Item(f"{TASK}-{number:04d}", TASK, prompt, TRUE if truth else FALSE, (TRUE, FALSE), facts))
    return items


def objects_of(relation: str) -> Sequence[str]:
    """Return the different objects of a relation, sorted."""
    return tuple(sorted({word for _, word in FACTS[relation]}))


def _filler_text(statement: str, length: int, tokenizer: Any, rng: random.Random) -> str:
    sentences = [prose.sentence(rng)]
    while tokenizer is not None and len(encode(tokenizer, " ".join([*sentences, statement]))) < length:
        sentences.append(prose.sentence(rng))
    return " ".join(sentences)
