"""Remove a reasoning model's thinking from answers, whether generated or read from prediction files."""

import re
from typing import NamedTuple

WORDS = r"think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|seed:think|seed:cot_budget_reflect"
PAIRS = (  # opening and closing marks, as patterns
    (rf"<\s*(?:{WORDS})(?:\s[^<>]*)?>", rf"<\s*/\s*(?:{WORDS})\s*>"),
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
# Channels of GPT-OSS: `<|channel|>analysis<|message|>...<|end|>`, and only the channel `final` has the answer
CHANNEL = re.compile(r"<\|channel\|>\s*(\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>", re.IGNORECASE)
CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
BARE_FINAL = re.compile(r"assistant\s*final(?=\S|\s|$)")  # the same if special tokens were removed
BARE_ANALYSIS = re.compile(r"\A\s*(?:assistant)?analysis(?=[A-Z\W\d])")


class Reply(NamedTuple):
    """An answer and the thinking before it, both without surrounding white space."""

    answer: str
    thoughts: str


def opens_thinking(prompt: str) -> bool:
    """Return whether a prompt ends inside an opened thinking section."""
    opening = None
    for opening in OPENING.finditer(prompt):  # noqa: B007
        pass
    return opening is not None and not prompt[opening.end() :].strip()


def has_thought_marks(text: str) -> bool:
    """Tell whether a text contains marks of thinking or of channels."""
    return bool(OPENING.search(text) or CLOSING.search(text) or "<|channel|>" in text)


def is_part_of_mark(token: str) -> bool:
    """Tell whether a special token is a mark of thinking or of channels, or part of one."""
    return has_thought_marks(token) or token in (
        "<|start|>",
        "<|message|>",
        "<|constrain|>",
        "<|end|>",
        "<|channel>",
        "<channel|>",
    )


def split_thoughts(text: str, *, opened: bool = False) -> Reply:
    """Split a reasoning model's text into thinking and answer.

    The answer is the text after the last closing mark, whatever is nested before it and whether or not it has an
    opening mark; with channels, it is the last channel called `final`. Thinking that never ends gives no answer.
    `opened` says whether the prompt itself ends with an opening mark. The returned thinking has no marks.
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
    openings = list(CHANNEL.finditer(text))
    answer, thoughts = "", []
    for opening in openings:
        thought = text[opening.end() :]
        end = CHANNEL_END.search(thought)
        thought = (thought[: end.start()] if end else thought).strip()
        if opening[1].lower() == "final":
            answer = thought
        elif thought:
            thoughts.append(thought)
    return Reply(answer, "\n".join(thoughts))
