"""Read the units that the data package declares for columns, and spell units alike for comparison."""

import re
from collections.abc import Iterable
from pathlib import Path

from boundpaper.store.descriptor import resource

NONE = ("1", "as ", "see ")  # beginnings of the values of `unit` that mean "no unit", or that the unit differs by row

_UNIT_BY_NAME = {
    name: unit
    for unit, names in {
        "percent": ("%", "per cent", "pct"),
        "percentage point": ("points", "percentage points", "pp"),
        "second": ("s", "sec", "seconds"),
        "millisecond": ("ms", "milliseconds"),
        "microsecond": ("us", "µs", "μs", "microseconds"),
        "minute": ("min", "minutes"),
        "hour": ("h", "hours"),
        "metre": ("m", "metres", "meter", "meters"),
        "centimetre": ("cm", "centimetres", "centimeter", "centimeters"),
        "millimetre": ("mm", "millimetres", "millimeter", "millimeters"),
        "kilometre": ("km", "kilometres", "kilometer", "kilometers"),
        "gram": ("g", "grams"),
        "kilogram": ("kg", "kilograms"),
        "kelvin": ("k", "kelvins"),
        "degree celsius": ("°c", "degrees celsius", "celsius"),
        "byte": ("b", "bytes"),
        "kilobyte": ("kb", "kilobytes"),
        "megabyte": ("mb", "megabytes"),
        "gigabyte": ("gb", "gigabytes"),
        "hertz": ("hz",),
    }.items()
    for name in names
}
_PER = re.compile(r"(?<!\s)\s*+/\s*+|(?<!\s)\s++(?:per|an?)\s++")


def declared_units(root: Path, artifacts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the units of columns, by column name and then by artifact name."""
    units: dict[str, dict[str, str]] = {}
    for name in artifacts:
        for field in (resource(root, name) or {"schema": {"fields": []}})["schema"]["fields"]:
            if field.get("unit"):
                units.setdefault(field["name"], {})[name] = field["unit"]
    return units


def plain(unit: str) -> str:
    """Return a unit without markup, plurals and abbreviations, for comparison: `nat/token` for `nats per token`."""
    terms = _PER.split(unit.replace("\\", "").strip("$ ").lower())
    return "/".join(_UNIT_BY_NAME.get(term, term.removesuffix("s")) for term in terms)


def is_known_unit(unit: str) -> bool:
    """Return whether a text is a unit with several names, such as `ms`, or a rate of such a unit."""
    return plain(unit).partition("/")[0] in _UNIT_BY_NAME.values()


def may_be_unit(text: str) -> bool:
    """Return whether a text in brackets may be a unit: one word or symbol without digits, or a ratio of such terms."""
    return all(" " not in term and not any(map(str.isdigit, term)) for term in _PER.split(text.strip()))
