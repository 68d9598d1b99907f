"""Check by manifests that two models got the same tokenizer, texts, items, settings and precision."""

from collections.abc import Mapping
from typing import Any

from boundpaper.errors import DataError
from boundpaper.statistics import guards
from keyquery.measure.measurements import WEIGHTS, settings_in_words

OF_THE_MODEL = (
    *WEIGHTS,
    *("model", "architecture", "gguf", "positional", "training_length", "documents", "text_hash", "texts"),
)
"""Settings in which models may differ, or which are told in words of their own."""
TOGETHER = "ask both the same with one command: run NAME --model A --against B"
CAPTURED = "capture both over the same texts, with the same options"
Manifest = Mapping[str, Any]


def check_comparable(
    experiment: str, names: tuple[str, str], manifests: tuple[Manifest, Manifest], unit: str, task: str = ""
) -> list[str]:
    """Check that two measurements may be compared; return notes on limits that a reader must know.

    `manifests` say what made the rows of the two models, and `unit` what the rows are paired by. Items may be read with
    two tokenizers, and so may texts of which each head makes one number; numbers of a text may not. `task` is that of
    the items that are compared. Raises DataError when they were asked otherwise: other texts or items, settings, or
    tokens of another vocabulary.
    """
    first, second = manifests
    where = f"{experiment}: {names[0]} and {names[1]}"
    captured = "capture" in first
    mend = CAPTURED if captured else TOGETHER
    vocabularies = [_facts(each).get("tokenizer") for each in manifests]
    other_words = None not in vocabularies and vocabularies[0] != vocabularies[1]
    if other_words and unit == "text":
        raise DataError(
            f"{where} have different tokenizers, which cut a text into different tokens; "
            "compare what items tell: --by item"
        )
    settings, others = settings_in_words(first), settings_in_words(second)
    for name in (*settings, *(name for name in others if name not in settings)):
        if name not in OF_THE_MODEL and settings.get(name) != others.get(name):
            raise DataError(
                f"{where} have different settings ({name} {settings.get(name)}, {others.get(name)}); {mend}"
            )
    _require_same_hashes(where, manifests, unit, other_words, mend, task)
    if captured:
        one, two = (each["capture"].get("text_hash") for each in manifests)
        counts = [each["capture"].get("documents") for each in manifests]
        if counts[0] != counts[1] or (not other_words and None not in (one, two) and one != two):
            raise DataError(f"{where} were captured on different texts ({counts[0]} and {counts[1]} documents); {mend}")
    stated = {
        name: {
            "precision": _precision_name(each),
            "tokenizer": str(vocabulary or "not stated"),
            **{library: each.get("versions", {}).get(library, "not stated") for library in ("torch", "transformers")},
        }
        for name, each, vocabulary in zip(names, manifests, vocabularies, strict=True)
    }
    if None in vocabularies:
        for each in stated.values():
            each.pop("tokenizer")
    return list(guards.mixed_protocol(stated))


def _facts(manifest: Manifest) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = manifest.get("model") or manifest.get("capture") or {}
    return facts


def _precision_name(manifest: Manifest) -> str:
    facts = _facts(manifest)
    quantization = facts.get("quantization")
    return f"{quantization['type']} and {facts.get('dtype')}" if quantization else str(facts.get("dtype"))


def _require_same_hashes(
    where: str, manifests: tuple[Manifest, Manifest], unit: str, other_words: bool, mend: str, task: str
) -> None:
    """Refuse to compare values by text or by item if the two models were given different texts or items."""
    what = "items" if unit == "item" else "texts"
    first, second = (each.get("hashes", {}).get(what, {}) for each in manifests)
    doubt = "" if all("tokenizer" in _facts(each) for each in manifests) else " (or by other tokenizers)"
    if what == "texts" and other_words:  # heads over one set of texts, cut by two tokenizers
        return
    if other_words:
        mend = "their tokenizers fill a prompt to its length with different words"
    for name in [task] if what == "items" and task in (*first, *second) else dict.fromkeys((*first, *second)):
        one, two = first.get(name), second.get(name)
        if one != two:
            counts = [each["count"] if each else 0 for each in (one, two)]
            how = f"{counts[0]} and {counts[1]} {what}" if counts[0] != counts[1] else f"different {what}{doubt}"
            raise DataError(f"{where} were asked {how} of {name}; {mend}")
