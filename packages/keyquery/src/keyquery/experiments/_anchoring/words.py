"""Find the decisive words of a question, and check whether an answer contains a right answer."""

import re
import string
from collections.abc import Sequence

from keyquery.experiments._anchoring.data import Span

RULE = (
    "quoted passages, numbers, capitalised words but for a question word, and every other word that is no function word"
)
RULE_SUBJECT = "the subject, and the property where the question has it word by word, else its other content words"
_FUNCTION_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but by
can could did do does doing down during each else ever every few for from further had has have having he her here
hers him his how i if in into is it its itself just many may me might more most much must my name named no nor not
of off on once one only or other our out over own please same shall she should so some such tell than that the their
them then there these they this those through to too under until up upon us very was we were what when where which
while who whom whose why will with within without would yes you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]+)[\"“”«»]")
WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
END = re.compile(r"\n|[;!?]|(?<!\b[A-Z])(?<!\b(?:St|Dr|Mr|Ms|Jr|Sr))(?<!\bMrs)\.(?=\s|$)")
ARTICLES = re.compile(r"\b(a|an|the)\b")


def decisive_spans(question: str) -> tuple[Span, ...]:
    """Return the character spans of a question's decisive words by `RULE`; a quotation is one span."""
    spans = [match.span(1) for match in QUOTED.finditer(question)]
    for match in WORD.finditer(question):
        if any(start <= match.start() < end for start, end in spans):
            continue
        if match.group().casefold().removesuffix("'s").removesuffix("’s") not in FUNCTION_WORDS:
            spans.append(match.span())
    return tuple(sorted(spans))


def subject_spans(question: str, subject: str, relation: str) -> tuple[Span, ...]:
    """Return the character spans of decisive words by `RULE_SUBJECT`; empty if the question lacks the subject."""
    subject_span = _find(question, subject)
    if subject_span is None:
        return ()
    relation_span = _find(question, relation)
    if relation_span is not None and not _overlap(subject_span, relation_span):
        return tuple(sorted((subject_span, relation_span)))
    other_spans = [span for span in decisive_spans(question) if not _overlap(subject_span, span)]
    return tuple(sorted([subject_span, *other_spans]))


def _find(text: str, phrase: str) -> Span | None:
    """Return the character span of a phrase in a text; None if it does not occur."""
    words = phrase.split()
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
    # prefer the exact case: in "the author of The Author" the second match is the subject
    match = (re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)) if words else None
    return None if match is None else match.span()


def _overlap(first: Span, second: Span) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def answer_span(continuation: str) -> Span | None:
    """Return the character span of the answer in a continuation: up to the end of the first line or sentence.

    Right and wrong answers are cut by the same rule, so the last token's position does not reveal which are right.
    Surrounding quotation marks and spaces are excluded. None if the answer has no word.
    """
    start = next((i for i, character in enumerate(continuation) if not character.isspace()), None)
    if start is None:
        return None
    match = END.search(continuation, start)
    end = match.start() if match else len(continuation)
    while end > start and (continuation[end - 1].isspace() or continuation[end - 1] in "\"'“”,:"):
        end -= 1
    while start < end and continuation[start] in "\"'“”":
        start += 1
    return (start, end) if WORD.search(continuation[start:end]) else None


def normal(text: str) -> str:
    """Return a text in lower case without punctuation, English articles or double spaces, as in SQuAD's metric."""
    unpunctuated = "".join(" " if char in string.punctuation + "’“”–" else char for char in text.casefold())
    return " ".join(ARTICLES.sub(" ", unpunctuated).split())


def is_alias(answer: str, aliases: Sequence[str]) -> bool:
    """Return whether the normalised answer contains one of the normalised aliases, as whole words."""
    padded = f" {normal(answer)} "
    return any(f" {alias} " in padded for alias in map(normal, aliases) if alias)
