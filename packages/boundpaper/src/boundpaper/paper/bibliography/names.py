"""Split lists of authors and editors into names, and find names that BibTeX would misread."""

import re

_SUFFIX = re.compile(r"(?:jr|sr|[ivx]+|\d(?:st|nd|rd|th)|esq|m\.?d|ph\.?d|junior|senior)\.?", re.IGNORECASE)
_ET_AL = re.compile(r"(?:\\emph|\\textit)?\{?\s*(?:et\.?[~ ]*al\.?|others)\s*\}?\.?", re.IGNORECASE)
_LAST_ET_AL = re.compile(r"(?P<name>[^{}]*[^{},\s]),?\s+(?:\{?\\emph\{)?et\.?[~ ]*al\.?\}*", re.IGNORECASE)
_ROLES = re.compile(r"\((?:eds?\.?|editors?)\)", re.IGNORECASE)


class NamesFault(ValueError):
    """A name that BibTeX would misread; the message says how to correct it."""


def split_names(text: str) -> list[str]:
    """Return the names of a list, each in BibTeX's order; a final `others` stands for names that the list omits.

    Raises NamesFault when a name is empty, has too many commas, or contains several names.
    """
    names = [" ".join(name.split()).removesuffix(",").rstrip() for name in _split_outside(text, r"(?<!\s)\s+and(?=\s)")]
    if match := _LAST_ET_AL.fullmatch(names[-1]):
        names[-1:] = [match["name"], "others"]
    names = ["others" if _ET_AL.fullmatch(name) else _in_bibtex_order(name) for name in names]
    for number, name in enumerate(names, 1):
        if not name or name == "and":
            raise NamesFault(f"name {number} is empty; write one `and` between two names")
        if name == "others" and (number < len(names) or number == 1):
            raise NamesFault("`others` means all further names; put it after the last name")
        if fault := _name_fault(name):
            raise NamesFault(f"name {number}, {name!r}, {fault}")
    return names


def _in_bibtex_order(name: str) -> str:
    """Return a name, with the suffix of `Alder, Ben, Jr.` moved to BibTeX's place for it: `Alder, Jr., Ben`."""
    parts = [part.strip() for part in _split_outside(name, ",")]
    if len(parts) == 3 and _SUFFIX.fullmatch(parts[2].strip("{}")) and not _SUFFIX.fullmatch(parts[1].strip("{}")):
        return f"{parts[0]}, {parts[2]}, {parts[1]}"
    return name


def _name_fault(name: str) -> str:
    """Return what is wrong with a name and how to correct it; empty if BibTeX reads it as intended."""
    parts = [part.strip() for part in _split_outside(name, ",")]
    unbraced = _outside_braces(name)
    if ";" in re.sub(r"&#?\w+;", "", unbraced):
        return "contains a semicolon; join names with ` and `"
    if len(parts) > 3:
        return "has too many commas; join names with ` and `, as in `Alder, Ada and Birch, Ben`"
    if len(parts) > 1 and not parts[0]:
        return "begins with a comma; write the family name before it"
    if len(parts) == 3 and not _SUFFIX.fullmatch(parts[1].strip("{}")):
        return (
            "has two commas, so that its middle part would be a suffix such as Jr; join names with ` and `, as in "
            "`Alder, Ada and Birch, Ben`"
        )
    if re.search(r"(?<!\\)&", unbraced) or re.search(r"\s\\&\s", unbraced):
        return "contains an ampersand; join names with ` and `, or write the name of a company in braces"
    if _ROLES.search(unbraced):
        return "contains a role; name editors in the field editor"
    if re.search(r"\bet\.?[~ ]*al\b", unbraced, re.IGNORECASE):
        return "contains `et al.`; write ` and others`"
    return ""


def _outside_braces(text: str) -> str:
    """Return the text outside all braces."""
    count = 1
    while count:
        text, count = re.subn(r"\{[^{}]*\}", "", text)
    return text


def _split_outside(text: str, separator: str) -> list[str]:
    """Return the parts of a text between the separators that are outside all braces."""
    parts, begin, depth = [], 0, 0
    for match in re.compile(rf"[{{}}]|{separator}", re.IGNORECASE).finditer(f"{text} "):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif not depth:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]
