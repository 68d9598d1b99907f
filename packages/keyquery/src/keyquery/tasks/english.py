"""Generate English items and texts: facts of common knowledge, reviews, numbers to remember."""

import random
from collections.abc import Sequence
from typing import Any

from boundpaper.errors import DataError, ModelError
from keyquery.models.answers.forwards import encode
from keyquery.models.answers.scoring import answer_tokens
from keyquery.tasks import english_prose as prose
from keyquery.tasks import english_statements
from keyquery.tasks.answers import NEAR_DIGITS
from keyquery.tasks.english_facts import ATHLETES, CITIES
from keyquery.tasks.items import NO, TASKS, YES, Item, Unwritable
from keyquery.tasks.prompt_length import Filler

KINDS = ("prose", "code")
FORMS = ("key", "code")
MISSES = ("one-digit", "swapped", "shortened", "other")
KEYED = ("passkey", "verification", "ranking")
DIGITS = 5
LENGTH = 256  # default number of tokens of a prompt with a key
SENTIMENTS = ("positive", "negative")
RULE = "Answer each question with yes or no.\n"
# A prompt begins with two answered examples, one with each answer; their subjects occur in no question.
CITY_SHOTS = "Question: Is Nairobi in Kenya?\nAnswer: yes\nQuestion: Is Lima in Poland?\nAnswer: no\n"
SPORT_SHOTS = (
    "Question: Does Michael Jordan play basketball?\nAnswer: yes\nQuestion: Does Pele play cricket?\nAnswer: no\n"
)
CITY_FORMS = ("Is {subject} in {shown}?", "Is {subject} a city in {shown}?")
SPORT_FORMS = ("Does {subject} play {shown}?", "Is {subject} known for playing {shown}?")
SHOTS = (
    "Review: A warm and clever film. I smiled all the way home.\nSentiment: positive\n\n"
    "Review: A dull and lazy film. I looked at my watch all the time.\nSentiment: negative\n\n"
)
INSTRUCTIONS = {
    "key": "A pass key is hidden in the text below. Remember it.",
    "code": "Read these notes with care; you will be asked about one of them.",
}
PLANTS = {
    "key": "The pass key is {key}. Remember that {key} is the pass key.",
    "code": "Note for the night porter: the code {key} opens the door.",
}
KEY_QUESTIONS = {
    "key": "\nWhat is the pass key? The pass key is",
    "code": "\nQuestion: Which code opens the door?\nAnswer: The door opens with the code",
}
CHECK_QUESTIONS = {
    "key": "\nIs the pass key {key}? Answer yes or no.\nAnswer:",
    "code": "\nQuestion: Does the code {key} open the door? Answer yes or no.\nAnswer:",
}
HUB = {"imdb": "stanfordnlp/imdb", "wikitext": "Salesforce/wikitext:wikitext-2-raw-v1"}


class EnglishBook:
    """Items and texts in English; only prompts with a key take `depth` and `form`."""

    name = "english"

    def tasks(self) -> Sequence[str]:
        """Return the task names: the four of the DroPE report, two further tasks about keys, and planted statements."""
        return (*TASKS, "verification", "ranking", english_statements.TASK)

    def kinds(self) -> Sequence[str]:
        """Return the kinds of text: `prose`, paragraphs of a village chronicle, and `code`, functions of a program."""
        return KINDS

    def items(
        self,
        task: str,
        count: int,
        seed: int,
        tokenizer: Any,
        *,
        length: int | None = None,
        depth: float | None = None,
        form: str | None = None,
    ) -> list[Item]:
        """Return `count` items of a task with balanced answers; see `keyquery.tasks.items.Book.items`.

        If `tokenizer` is None, answers are not checked. `form` is `key` or `code`; by default, both forms alternate.
        Raises DataError if the task or form is unknown, the task has fewer questions than `count`, the length is too
        short, or the tokenizer cannot encode an answer.
        """
        if task not in self.tasks():
            raise DataError(f"there is no task {task!r} in English; the tasks are {', '.join(self.tasks())}")
        rng = random.Random(f"items/{seed}/{task}/{length}")
        if task in KEYED:
            items = _key_items(task, count, seed, tokenizer, length or LENGTH, depth, form, rng)
        elif task == english_statements.TASK and depth is None and form is None:
            items = english_statements.make_statements(count, length, tokenizer, rng)
        elif length is not None or depth is not None or form is not None:
            raise DataError(f"only prompts with a key ({', '.join(KEYED)}) take a length, depth and form, not {task}")
        elif task == "sentiment":
            items = [_sentiment_item(number, rng) for number in range(count)]
        else:
            items = _fact_items(task, count, rng)
        _require_writable(tokenizer, items)
        return items

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        """Return `count` texts of at least `tokens` tokens each, including the beginning-of-sequence token.

        Raises DataError when the kind is unknown.
        """
        if kind not in KINDS:
            raise DataError(f"there are no English texts of kind {kind!r}; there are {', '.join(KINDS)}")
        make_section = prose.paragraph if kind == "prose" else prose.python_function
        texts = []
        for number in range(count):
            rng = random.Random(f"texts/{seed}/{kind}/{number}")
            text = make_section(rng)
            while (length := len(encode(tokenizer, text))) < tokens:
                # one section more than the mean length suggests, so that few rounds suffice
                section_count = (tokens - length) * (text.count("\n\n") + 1) // length + 1
                text = "\n\n".join([text, *(make_section(rng) for _ in range(section_count))])
            texts.append(text)
        return texts


BOOK = EnglishBook()


def wrong_key(key: str, kind: str, rng: random.Random) -> str:
    """Return a number that differs from the key in the way that `kind` names, one of `MISSES`."""
    if kind == "swapped":
        i = rng.choice([i for i in range(len(key) - 1) if key[i] != key[i + 1]])
        return key[:i] + key[i + 1] + key[i] + key[i + 2 :]
    i = rng.randrange(len(key))
    if kind == "shortened":
        return key[:i] + key[i + 1 :]
    if kind == "one-digit":
        return key[:i] + rng.choice([digit for digit in "0123456789" if digit != key[i]]) + key[i + 1 :]
    while True:
        number = _draw_key(rng)
        if sum(digit != key_digit for digit, key_digit in zip(number, key, strict=True)) > NEAR_DIGITS:
            return number


def _draw_key(rng: random.Random) -> str:
    """Return five random digits, the first not 0, not all equal; about half the keys have a digit twice in a row."""
    while True:
        key = str(rng.randrange(10 ** (DIGITS - 1), 10**DIGITS))
        if rng.random() < 0.5:
            i = rng.randrange(DIGITS - 1)
            key = key[: i + 1] + key[i] + key[i + 2 :]
        if len(set(key)) > 1:
            return key


def _key_items(
    task: str,
    count: int,
    seed: int,
    tokenizer: Any,
    length: int,
    depth: float | None,
    form: str | None,
    rng: random.Random,
) -> list[Item]:
    if form is not None and form not in FORMS:
        raise DataError(f"questions for a key come in the wordings {' and '.join(FORMS)}, not {form!r}")
    if depth is not None and not 0 <= depth <= 1:
        raise DataError(f"a depth is between 0 and 1, not {depth}")
    filler = Filler(tokenizer, seed)
    items = []
    for number in range(count):
        wording, key = form or FORMS[number % 2], _draw_key(rng)
        relative_depth = depth if depth is not None else (number + 0.5) / count
        facts: dict[str, Any] = {"form": wording, "depth": relative_depth, "length": length, "true": key, "key": key}
        answer, question = key, KEY_QUESTIONS[wording]
        options: tuple[str, ...] = ()
        if task == "verification":
            kind = "exact" if number % 2 == 0 else MISSES[number // 2 % len(MISSES)]
            shown_key = key if kind == "exact" else wrong_key(key, kind, rng)
            facts |= {"kind": kind, "shown": shown_key}
            answer, options = (YES if kind == "exact" else NO), (YES, NO)
            question = CHECK_QUESTIONS[wording].format(key=shown_key)
        plant = PLANTS[wording].format(key=key)
        prompt, start = filler.fill_prompt(INSTRUCTIONS[wording], plant, question, length, relative_depth, rng)
        if task == "ranking":
            # all candidates have the same length, since the likelihood would prefer a shorter one
            candidates = [key, *_wrong_keys(key, rng)]
            rng.shuffle(candidates)
            stem = prompt.removesuffix(question)
            facts["candidates"] = candidates
            facts["prompts"] = [stem + CHECK_QUESTIONS[wording].format(key=candidate) for candidate in candidates]
        facts["key_at"] = start
        items.append(Item(f"{task}-{number:04d}", task, prompt, answer, options, facts))
    return items


def _wrong_keys(key: str, rng: random.Random) -> list[str]:
    """Return three different wrong numbers of the key's length: two digits swapped, one digit changed, unrelated."""
    wrong_keys: list[str] = []
    for kind in ("swapped", "one-digit", "other"):
        while (wrong := wrong_key(key, kind, rng)) in wrong_keys:
            pass
        wrong_keys.append(wrong)
    return wrong_keys


def _fact_items(task: str, count: int, rng: random.Random) -> list[Item]:
    pairs, forms, shots = (CITIES, CITY_FORMS, CITY_SHOTS) if task == "cities" else (ATHLETES, SPORT_FORMS, SPORT_SHOTS)
    largest = 2 * len(forms) * len(pairs)
    if count > largest:
        raise DataError(f"only {largest} different questions of {task} exist, not {count}; give --items {largest}")
    order = rng.sample(pairs, len(pairs))
    objects = sorted({word for _, word in pairs})
    items = []
    for number in range(count):
        turn, i = divmod(number, len(order))
        subject, true_object = order[i]
        right = (number + turn) % 2 == 0  # in its second turn, a subject gets the other answer
        shown = true_object if right else rng.choice([word for word in objects if word != true_object])
        question = forms[turn // 2].format(subject=subject, shown=shown)
        facts = {"subject": subject, "shown": shown, "true": true_object, "form": turn // 2}
        prompt = f"{RULE}{shots}Question: {question}\nAnswer:"
        items.append(Item(f"{task}-{number:04d}", task, prompt, YES if right else NO, (YES, NO), facts))
    return items


def _sentiment_item(number: int, rng: random.Random) -> Item:
    verdict = SENTIMENTS[number % 2]
    prompt = f"{SHOTS}Review: {prose.film_review(rng, verdict)}\nSentiment:"
    return Item(f"sentiment-{number:04d}", "sentiment", prompt, verdict, SENTIMENTS)


def _require_writable(tokenizer: Any, items: Sequence[Item]) -> None:
    if tokenizer is None:
        return
    endings = {(item.prompt[-30:], answer) for item in items for answer in (item.answer, *item.options)}
    for end, answer in sorted(endings):
        try:
            answer_tokens(tokenizer, end, answer)
        except ModelError as error:
            raise Unwritable(
                f"this model cannot be asked in English: {error}; to measure only texts, give --items 0"
            ) from None
