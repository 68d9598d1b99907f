"""Faults against PDF/A-2b that a parser can tell: actions, annotations, filters, transparency, colours, identity."""

import io
import re
from typing import Any

import pypdf
from pypdf.generic import DictionaryObject, IndirectObject, StreamObject

ACTIONS = {"/GoTo", "/GoToR", "/URI", "/Named"}
BLENDED = {"/Normal", "/Multiply", "/Screen", "/Overlay", "/Darken", "/Lighten"}
PRINTED, UNSEEN = 4, 1 | 2 | 32  # bits of an annotation: printed; invisible, hidden, not viewed
CMYK = re.compile(rb"(?<![\w/.])(?:-?[\d.]+\s+){4}[kK](?!\w)")


def faults(content: bytes) -> list[str]:
    """Return the faults of a PDF, each with its object's number."""
    reader = pypdf.PdfReader(io.BytesIO(content))
    found = []
    if not re.match(rb"%PDF-1\.[0-7]\r?\n%[\x80-\xff]{4}", content):
        found.append("header: no version 1.x with a binary comment below it")
    if reader.is_encrypted or "/ID" not in reader.trailer:
        found.append("trailer: encrypted, or without an identity")
    numbers = {*reader.xref_objStm, *(number for placed in reader.xref.values() for number in placed)}
    for number in sorted(numbers):
        thing = IndirectObject(number, 0, reader).get_object()
        if isinstance(thing, DictionaryObject):
            found += [f"object {number}: {fault}" for fault in _faults_of(thing)]
    return found


def _faults_of(thing: DictionaryObject) -> list[str]:
    kind, sort, filters = thing.get("/Type"), thing.get("/Subtype"), thing.get("/Filter", [])
    group, flags = (
        thing.get("/Group", DictionaryObject()).get_object(),
        int(thing.get("/F", 0)) if sort == "/Link" else PRINTED,
    )
    names: Any = filters if isinstance(filters, list) else [filters]
    rules = {
        f"action {thing.get('/S')}": kind == "/Action" and thing.get("/S") not in ACTIONS,
        "an action of its own": "/AA" in thing or "/JS" in thing,
        "a link that is not printed or not seen": not flags & PRINTED or bool(flags & UNSEEN),
        f"filter {names}": bool({"/LZWDecode", "/Crypt"} & set(names)),
        "embedded files or forms": "/EmbeddedFiles" in thing or "/XFA" in thing,
        f"blending {thing.get('/BM')}": "/BM" in thing and thing["/BM"] not in BLENDED,
        "a transfer function": "/TR" in thing or thing.get("/TR2", "/Default") != "/Default",
        "an image that is interpolated, or has alternates": str(thing.get("/Interpolate")) == "True"
        or "/Alternates" in thing,
        "a form of another program": sort == "/Form" and any(key in thing for key in ("/PS", "/OPI", "/Ref")),
        "a group or image in CMYK": "/DeviceCMYK" in (group.get("/CS"), thing.get("/ColorSpace")),
        "a colour in CMYK": CMYK.search(_drawing(thing)) is not None,
    }
    return [fault for fault, broken in rules.items() if broken]


def _drawing(thing: DictionaryObject) -> bytes:
    """Return the content of a page, form or pattern; empty for another object."""
    other = {"/Type", "/Length1", "/N", "/FunctionType", "/BitsPerSample", "/BitsPerComponent"}
    if isinstance(thing, StreamObject) and (thing.get("/Subtype") == "/Form" or not other & thing.keys()):
        return thing.get_data()
    return b""
