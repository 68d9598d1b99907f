"""Convert entry kinds, fields, dates and archives of BibLaTeX and of reference managers to BibTeX."""

import calendar
import re
from collections.abc import Mapping

from boundpaper.paper.bibliography.terms import (
    ARCHIVES,
    FIELD_ALIASES,
    KIND_ALIASES,
    KINDS,
    OTHER_FIELDS,
    PRINTED_FIELDS,
)
from boundpaper.suggestions import or_known, similar_names

_DATE = re.compile(r"(?P<year>-?\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?(?:T[\d:.Z+-]*)?[?~%]?")
_ARXIV = re.compile(r"(?:arxiv:\s*)?(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
_THESES = {"phd": "phdthesis", "doc": "phdthesis", "dis": "phdthesis", "ma": "mastersthesis", "msc": "mastersthesis"}


class WordFault(ValueError):
    """A kind, field or value without counterpart in BibTeX; the message says what to write, `field` names the field."""

    def __init__(self, words: str, field: str = "") -> None:
        super().__init__(words)
        self.field = field


def to_bibtex(kind: str, fields: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Convert an entry to one of `KINDS` and to the fields that BibTeX's styles print.

    `kind` and the names of fields are in lower case; the values are LaTeX. Raises WordFault for an unknown kind or
    date, or a misspelt name of a field.
    """
    fields = {name: value for name, value in fields.items() if value.strip()}
    for name in fields:
        if not (
            name in PRINTED_FIELDS or name in FIELD_ALIASES or name in OTHER_FIELDS or name.startswith(("opt", "alt"))
        ):
            similar = similar_names(
                name, PRINTED_FIELDS | FIELD_ALIASES.keys() | {"date", "eprint", "crossref"}, most=1, cutoff=0.79
            )
            if similar and similar[0] not in fields and abs(len(similar[0]) - len(name)) <= 2:
                raise WordFault(f"unknown field {name!r}; did you mean {similar[0]!r}?", name)
    if kind not in KINDS and kind not in KIND_ALIASES:
        raise WordFault(f"unknown kind of entry @{kind}{or_known(kind, sorted(KINDS | KIND_ALIASES.keys()))}")
    bib = {name: value for name, value in fields.items() if name in PRINTED_FIELDS}
    for alias, name in FIELD_ALIASES.items():
        if name and alias in fields:
            bib.setdefault(name, fields[alias])
    kind = _bibtex_kind(kind, fields, bib)
    _join_titles(fields, bib)
    _fill_date(fields, bib)
    _describe_archive(kind, fields, bib)
    _fill_note(fields, bib)
    _move_issuer(kind, fields, bib)
    _place_doi(kind, bib)
    return kind, bib


def _bibtex_kind(kind: str, fields: Mapping[str, str], bib: dict[str, str]) -> str:
    """Return the BibTeX kind of an entry; add to `bib` details that the kind lacks, such as `Research report`."""
    if kind == "thesis":
        thesis_type = re.sub(r"[^a-z]", "", fields.get("type", "phdthesis").lower())
        thesis = next((name for begin, name in _THESES.items() if thesis_type.startswith(begin)), "")
        if thesis_type in ("phdthesis", "mathesis", "mastersthesis", "masterthesis"):
            bib.pop("type", None)
        return thesis or "phdthesis"
    if kind == "report" and fields.get("type", "") in ("techreport", "resreport"):
        bib["type"] = {"techreport": "Technical report", "resreport": "Research report"}[fields["type"]]
    if kind == "inbook" and "booktitle" in fields:
        return "incollection"  # in BibLaTeX, the field `title` is the title of a part
    if kind in ("patent", "standard") and "howpublished" not in bib and "number" in fields:
        bib["howpublished"] = f"{fields.get('type', kind.capitalize())} {fields['number']}"
    if kind in ("software", "dataset") and "version" in fields:
        _append_words(bib, "note", f"Version {fields['version']}")
    return KIND_ALIASES.get(kind, kind)


def _move_issuer(kind: str, fields: Mapping[str, str], bib: dict[str, str]) -> None:
    """Write the issuer of a work into the field that BibTeX has for it in this kind of entry."""
    issuer = next((bib[name] for name in ("institution", "school", "organization", "publisher") if name in bib), "")
    if not issuer:
        return
    if kind in ("phdthesis", "mastersthesis"):
        bib.setdefault("school", issuer)
    elif kind == "techreport":
        bib.setdefault("institution", issuer)
    elif kind == "misc" and "howpublished" not in bib:
        bib["howpublished"] = issuer
    elif kind in ("book", "incollection", "inbook"):
        bib.setdefault("publisher", issuer)
    if kind == "misc" and "journal" in bib and "howpublished" not in bib:
        bib["howpublished"] = bib["journal"]


def _join_titles(fields: Mapping[str, str], bib: dict[str, str]) -> None:
    for name, subtitle, addition in (
        ("title", "subtitle", "titleaddon"),
        ("booktitle", "booksubtitle", "booktitleaddon"),
        ("journal", "journalsubtitle", ""),
    ):
        if name in bib and subtitle in fields:
            separator = " " if re.search(r"[?!:.]\W*$", bib[name]) else ": "
            bib[name] = f"{bib[name]}{separator}{{{fields[subtitle]}}}"
        if name in bib and addition in fields:
            bib[name] = f"{bib[name]}. {{{fields[addition]}}}"
    if "maintitle" in fields:
        bib.setdefault("series" if "volume" in bib else "booktitle", fields["maintitle"])


def _fill_date(fields: Mapping[str, str], bib: dict[str, str]) -> None:
    """Set the year and the name of the month, from `date` if there is no year."""
    if "date" in fields and "year" not in fields:
        start_date, slash, end_date = fields["date"].partition("/")
        match = _DATE.fullmatch(start_date)
        has_end = end_date not in ("", "..")
        end = _DATE.fullmatch(end_date) if has_end else None
        if not match or (has_end and not end):
            if fields["date"].strip() in ("n.d.", "nodate") or not any(char.isdigit() for char in fields["date"]):
                bib["year"] = fields["date"]
                return
            raise WordFault(
                f"date = {{{fields['date']}}} is not a date; write it as 2024, 2024-03, 2024-03-01 or 2023/2024, or "
                "give the year to be printed, as in year = {in press}",
                "date",
            )
        bib["year"] = match["year"] + (f"--{end['year']}" if end and end["year"] != match["year"] else "")
        if slash and not end_date:
            bib["year"] += "--"
        if match["month"] and not end:
            number = int(match["month"])
            if 1 <= number <= 12:
                day = f"{int(match['day'])}~" if match["day"] else ""
                bib.setdefault("month", day + calendar.month_name[number])
            elif 21 <= number <= 24:
                bib.setdefault("month", ("Spring", "Summer", "Autumn", "Winter")[number - 21])
            else:
                raise WordFault(f"date = {{{fields['date']}}}: bad month {number}; give 1 to 12, or 21 to 24", "date")
    month = bib.get("month", "").strip("{} .")
    if month.isdigit():
        if not 1 <= int(month) <= 12:
            raise WordFault(f"month = {{{month}}} is not a month; write 1 to 12, or its name", "month")
        bib["month"] = calendar.month_name[int(month)]
    elif month.capitalize() in (abbreviations := list(calendar.month_abbr)[1:]):
        bib["month"] = calendar.month_name[abbreviations.index(month.capitalize()) + 1]


def _describe_archive(kind: str, fields: Mapping[str, str], bib: dict[str, str]) -> None:
    """Write a work's number in an archive such as arXiv into a field that BibTeX prints, and its address into `url`."""
    number = fields.get("eprint", "")
    archive = fields.get("eprinttype", fields.get("archiveprefix", "")).strip("{} ")
    for name in ("pmid", "pubmed"):
        if not number and name in fields:
            number, archive = fields[name], "pubmed"
    if not number:
        return
    number = number.strip("{} ")
    arxiv = _ARXIV.fullmatch(number)
    if number.startswith(("http://", "https://")):
        bib.setdefault("url", number)
        return
    if not archive and not arxiv:
        return  # not the number of an archive, but a file name or similar
    archive = archive or "arXiv"
    words = f"{ARCHIVES.get(archive.lower(), archive)}:{re.sub('^arxiv: *', '', number, flags=re.IGNORECASE)}"
    if archive.lower() == "arxiv" and arxiv:
        if "doi" not in bib:
            bib.setdefault("url", f"https://arxiv.org/abs/{arxiv['id']}")
        if any(arxiv["id"] in bib.get(name, "") for name in ("note", "howpublished", "journal", "volume", "pages")):
            return
    if kind == "misc" and "howpublished" not in bib:
        bib["howpublished"] = words
    else:
        _append_words(bib, "note", words)


def _fill_note(fields: Mapping[str, str], bib: dict[str, str]) -> None:
    """Write the date of the last visit to an address into the note, and set `eid`."""
    for name in ("urldate", "lastchecked", "lastaccessed", "accessed"):
        if name in fields and ("url" in bib or "howpublished" in bib) and fields[name] not in bib.get("note", ""):
            _append_words(bib, "note", f"Visited on {fields[name]}")
            break
    for name in ("articleno", "article-number"):
        if name in fields:
            bib.setdefault("eid", fields[name])


def _place_doi(kind: str, bib: dict[str, str]) -> None:
    """Write a DOI into `url` or `note`, for kinds of entries in which BibTeX's styles do not print it."""
    number = bib.get("doi", "")
    if not number or kind not in ("manual", "mastersthesis", "misc", "phdthesis", "techreport", "unpublished"):
        return
    if any(number in bib.get(name, "") for name in ("url", "note", "howpublished")):
        return
    if "url" not in bib:
        bib["url"] = number if "doi.org/" in number else f"https://doi.org/{number.removeprefix('doi:').strip()}"
    else:
        _append_words(bib, "note", f"DOI {number}")


def _append_words(bib: dict[str, str], name: str, words: str) -> None:
    bib[name] = f"{bib[name].rstrip('. ')}; {words}" if bib.get(name) else words
