"""Check by the manifests of two models that both were measured on the same texts and items with the same settings."""

from collections.abc import Mapping
from typing import Any

from boundpaper.errors import DataError
from boundpaper.statistics import guards
from keyquery.measure.measurements import OF_THE_MODEL, settings_in_words

MEASURE_BOTH = "measure both in one command: run NAME --model A --against B"
CAPTURE_BOTH = "capture both over the same texts, with the same options"
LIBRARIES = ("torch", "transformers")  # whose versions are compared
Manifest = Mapping[str, Any]


def check_comparable(
    experiment: str, names: tuple[str, str], manifests: tuple[Manifest, Manifest], unit: str, task: str = ""
) -> list[str]:
    """Check that two measurements may be compared; return notes on the limits of the comparison.

    `manifests` record how each model's rows were made; rows are paired by `unit`. The tokenizers may differ if items
    or heads are paired, but not if texts are paired. `task` is the task of the compared items. The notes say how the
    measurements differ in precision, tokenizer and versions. Raises DataError if texts, items or settings differ, or if
    texts are paired and the tokenizers differ.
    """
    reference, other = manifests
    label = f"{experiment}: {names[0]} and {names[1]}"
    is_capture = "capture" in reference
    advice = CAPTURE_BOTH if is_capture else MEASURE_BOTH
    vocabularies = [_model_facts(manifest).get("tokenizer") for manifest in manifests]
    tokenizers_differ = None not in vocabularies and vocabularies[0] != vocabularies[1]
    if tokenizers_differ and unit == "text":
        raise DataError(f"{label} have different tokenizers, which split texts differently; compare items: --by item")
    settings, other_settings = settings_in_words(reference), settings_in_words(other)
    for name in dict.fromkeys((*settings, *other_settings)):
        if name not in OF_THE_MODEL and settings.get(name) != other_settings.get(name):
            values = (facts.get(name) for facts in (settings, other_settings))
            words = ", ".join("not given" if value is None else str(value) for value in values)
            raise DataError(f"{label} have different settings ({name} {words}); {advice}")
    _require_same_hashes(label, manifests, unit, tokenizers_differ, advice, task)
    if is_capture:
        hashes = [manifest["capture"].get("text_hash") for manifest in manifests]
        counts = [manifest["capture"].get("documents") for manifest in manifests]
        hashes_differ = not tokenizers_differ and None not in hashes and hashes[0] != hashes[1]
        if counts[0] != counts[1] or hashes_differ:
            documents = f"{counts[0]} and {counts[1]} documents"
            raise DataError(f"{label} were captured on different texts ({documents}); {advice}")
    protocols = {
        name: {
            "precision": _precision_name(manifest),
            **({} if None in vocabularies else {"tokenizer": str(vocabulary)}),
            **{library: manifest.get("versions", {}).get(library, "not stated") for library in LIBRARIES},
        }
        for name, manifest, vocabulary in zip(names, manifests, vocabularies, strict=True)
    }
    return list(guards.mixed_protocol(protocols))


def _model_facts(manifest: Manifest) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = manifest.get("model") or manifest.get("capture") or {}
    return facts


def _precision_name(manifest: Manifest) -> str:
    facts = _model_facts(manifest)
    quantization = facts.get("quantization")
    return f"{quantization['type']} and {facts.get('dtype')}" if quantization else str(facts.get("dtype"))


def _require_same_hashes(
    label: str, manifests: tuple[Manifest, Manifest], unit: str, tokenizers_differ: bool, advice: str, task: str
) -> None:
    """Raise DataError if the two models were given different items or, with the same tokenizer, different texts."""
    units = "items" if unit == "item" else "texts"
    first, second = (manifest.get("hashes", {}).get(units, {}) for manifest in manifests)
    doubt = "" if all("tokenizer" in _model_facts(each) for each in manifests) else " (or with other tokenizers)"
    if units == "texts" and tokenizers_differ:  # the texts' tokens then differ, but heads may still be compared
        return
    if tokenizers_differ:
        advice = "their tokenizers pad a prompt to its length with different words"
    for name in [task] if units == "items" and task in (*first, *second) else dict.fromkeys((*first, *second)):
        hashes = (first.get(name), second.get(name))
        if hashes[0] != hashes[1]:
            counts = [each["count"] if each else 0 for each in hashes]
            problem = f"{counts[0]} and {counts[1]} {units}" if counts[0] != counts[1] else f"different {units}{doubt}"
            raise DataError(f"{label} were measured on {problem} of {name}; {advice}")
