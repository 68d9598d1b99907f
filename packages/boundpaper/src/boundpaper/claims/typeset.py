"""Reasons and statements as a reader sees them: metrics by name, signs and powers of ten as printed."""

from __future__ import annotations

import re

_NAMES = (
    (r"\ban ap_drop\b", "a plasticity drop"),
    (r"\btypical ap_drop\b", "typical plasticity drop"),
    (r"\bap_drop\b", "the plasticity drop"),
    (r"\bap_overall\b", "overall plasticity"),
    (r"\bap_first_20\b", "first-fifth plasticity"),
    (r"\bap_last_20\b", "last-fifth plasticity"),
    (r"\bbias_strength\b", "the bias per token"),
    (r"\bseparation_strength\b", "the separation"),
    (r"\bplane_var\b", "the variance in plane"),
    (r"\bkey slope alpha_[kK]\b", "key slope"),
    (r"\balpha_[kK]\b", "the key slope"),
    (r"\br_k(_a)?\b", "the keys' correlation with position"),
    (r"\br_q(_a)?\b", "the queries' correlation with position"),
    (r"\brho\b", "ρ"),
    (r"\bnonthinking\b", "without thinking"),
    (r"(?<=[(,;] )thinking(?=,)|(?<=\()thinking(?=\))", "with thinking"),
    (r"(?<![-\w])(\d+)k(?![-\w])", r"\1K"),
)
_POWER = re.compile(r"(?<=\d)e([-+]?)0*(\d+)\b|10\^(-?)(\d+)\b")
_TWICE = re.compile(r"\b([Tt]he) the (?=key|plasticity|bias|variance|separation)")
_START = re.compile(r"(?<=\. )the (?=key|plasticity|bias|variance|separation)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ZERO = re.compile(r"(?<![\w.])[+−](?=0(?:\.0+)?(?![\d.]*\d))")


def typeset(text: str) -> str:
    """Replace the keys of metrics by names, and what a keyboard writes by signs: `rho = -0.4`, `1.9e-02`, `16k`.

    Names of checkpoints and ranges (`0-1K`) stay. The text's first letter is left to the caller.
    """
    for pattern, name in _NAMES:
        text = re.sub(pattern, name, text)
    text = _TWICE.sub(r"\1 ", text)
    text = _START.sub("The ", text)
    text = _POWER.sub(_power, text)
    text = re.sub(r"(?<=\d) - (?=\d)", " − ", text)
    text = re.sub(r"(?<![\w.%)])-(?=[\d.])", "−", text)
    return _ZERO.sub("", text)


def _power(match: re.Match[str]) -> str:
    if match[2]:
        return f" × 10{(match[1].replace('+', '') + match[2]).translate(_RAISED)}"
    return f"10{(match[3] + match[4]).translate(_RAISED)}"
