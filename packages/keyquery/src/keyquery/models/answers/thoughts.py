"""Separate a reasoning model's thinking from its answer."""

import re
from typing import NamedTuple

NAMES = r"think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|seed:think|seed:cot_budget_reflect"
PAIRS = (  # opening and closing marks, as patterns
    (rf"<\s*(?:{NAMES})(?:\s[^<>]*)?>", rf"<\s*/\s*(?:{NAMES})\s*>"),
    (r"\[\s*THINK(?:ING)?\s*\]", r"\[\s*/\s*THINK(?:ING)?\s*\]"),
    (r"<\|\s*begin_of_thought\s*\|>", r"<\|\s*end_of_thought\s*\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|think\|>|<\|thinking\|>|<\|think_start\|>", r"<\|/think\|>|<\|/thinking\|>|<\|think_end\|>"),
    (r"\u25c1think\u25b7", r"\u25c1/think\u25b7"),
    (r"<\|channel>\s*thought", r"<channel\|>"),
    (r"<unused94>(?:thought)?", r"<unused95>"),
)
OPENING = re.compile("|".join(opening for opening, _ in PAIRS), re.IGNORECASE)
CLOSING = re.compile("|".join(closing for _, closing in PAIRS), re.IGNORECASE)
# GPT-OSS writes channels, `<|channel|>analysis<|message|>...<|end|>`; only the channel `final` has the answer
CHANNEL = re.compile(r"<\|channel\|>\s*(\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>", re.IGNORECASE)
CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
BARE_FINAL = re.compile(r"assistant\s*final(?=\S|\s|$)")  # what removing special tokens leaves of a channel's mark
BARE_ANALYSIS = re.compile(r"\A\s*(?:assistant)?analysis(?=[A-Z\W\d])")


class Reply(NamedTuple):
    """An answer and the thinking before it, both without surrounding white space."""

    answer: str
    thoughts: str


def opens_thinking(prompt: str) -> bool:
    """Return whether a prompt ends with an opening mark of thinking, apart from white space."""
    opening = None
    for opening in OPENING.finditer(prompt):  # noqa: B007
        pass
    return opening is not None and not prompt[opening.end() :].strip()


def has_thought_marks(text: str) -> bool:
    """Return whether a text contains marks of thinking or of channels."""
    return bool(OPENING.search(text) or CLOSING.search(text) or "<|channel|>" in text)


def is_part_of_mark(token: str) -> bool:
    """Return whether a special token is a mark of thinking or of channels, or part of such a mark."""
    mark_parts = "<|start|> <|message|> <|constrain|> <|end|> <|channel> <channel|>".split()
    return has_thought_marks(token) or token in mark_parts


def split_thoughts(text: str, *, opened: bool = False) -> Reply:
    """Split a reasoning model's text into its answer and its thinking, both without marks.

    The answer is the text after the last closing mark, even if marks are nested or the opening mark is missing; with
    channels, it is the last channel called `final`. If thinking never ends, the answer is empty. `opened` says whether
    the prompt itself ends with an opening mark.
    """
    if "<|channel|>" in text:
        return _split_channels(text)
    if finals := list(BARE_FINAL.finditer(text)):
        if BARE_ANALYSIS.match(text) or not text[: finals[-1].start()].strip():
            return Reply(text[finals[-1].end() :].strip(), BARE_ANALYSIS.sub("", text[: finals[-1].start()]).strip())
    elif (opening := BARE_ANALYSIS.match(text)) and text[opening.end() : opening.end() + 1].isupper():
        return Reply("", text[opening.end() :].strip())
    closings = list(CLOSING.finditer(text))
    thoughts, answer = (text[: closings[-1].start()], text[closings[-1].end() :]) if closings else ("", text)
    if opened and not closings:
        thoughts, answer = text, ""
    if opening := OPENING.search(answer):
        thoughts, answer = f"{thoughts} {answer[opening.start() :]}", answer[: opening.start()]
    return Reply(answer.strip(), CLOSING.sub("", OPENING.sub("", thoughts)).strip())


def _split_channels(text: str) -> Reply:
    answer, thoughts = "", []
    for opening in CHANNEL.finditer(text):
        message = CHANNEL_END.split(text[opening.end() :], maxsplit=1)[0].strip()
        if opening[1].lower() == "final":
            answer = message
        elif message:
            thoughts.append(message)
    return Reply(answer, "\n".join(thoughts))
