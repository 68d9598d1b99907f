"""Check rules of PDF/A-2b that pypdf can decide: actions, annotations, filters, transparency, colours, identity."""

import io
import re
from typing import Any

import pypdf
from pypdf.generic import DictionaryObject, IndirectObject, StreamObject

ACTIONS = {"/GoTo", "/GoToR", "/URI", "/Named"}
BLENDED = {"/Normal", "/Multiply", "/Screen", "/Overlay", "/Darken", "/Lighten"}
PRINT_BIT, HIDDEN_BITS = 4, 1 | 2 | 32  # bits of an annotation: printed; invisible, hidden, not viewed
CMYK = re.compile(rb"(?<![\w/.])(?:-?[\d.]+\s+){4}[kK](?!\w)")


def faults(content: bytes) -> list[str]:
    """Return the rules that a PDF breaks, each with the number of the object."""
    reader = pypdf.PdfReader(io.BytesIO(content))
    broken = []
    if not re.match(rb"%PDF-1\.[0-7]\r?\n%[\x80-\xff]{4}", content):
        broken.append("header: no version 1.x with a binary comment below it")
    if reader.is_encrypted or "/ID" not in reader.trailer:
        broken.append("trailer: encrypted, or without an identity")
    numbers = {*reader.xref_objStm, *(number for offsets in reader.xref.values() for number in offsets)}
    for number in sorted(numbers):
        pdf_object = IndirectObject(number, 0, reader).get_object()
        if isinstance(pdf_object, DictionaryObject):
            broken += [f"object {number}: {fault}" for fault in _faults_of(pdf_object)]
    return broken


def _faults_of(pdf_object: DictionaryObject) -> list[str]:
    kind, subtype, filters = pdf_object.get("/Type"), pdf_object.get("/Subtype"), pdf_object.get("/Filter", [])
    group, flags = (
        pdf_object.get("/Group", DictionaryObject()).get_object(),
        int(pdf_object.get("/F", 0)) if subtype == "/Link" else PRINT_BIT,
    )
    names: Any = filters if isinstance(filters, list) else [filters]
    rules = {
        f"action {pdf_object.get('/S')}": kind == "/Action" and pdf_object.get("/S") not in ACTIONS,
        "an action of its own": "/AA" in pdf_object or "/JS" in pdf_object,
        "a link that is not printed or not seen": not flags & PRINT_BIT or bool(flags & HIDDEN_BITS),
        f"filter {names}": bool({"/LZWDecode", "/Crypt"} & set(names)),
        "embedded files or forms": "/EmbeddedFiles" in pdf_object or "/XFA" in pdf_object,
        f"blending {pdf_object.get('/BM')}": "/BM" in pdf_object and pdf_object["/BM"] not in BLENDED,
        "a transfer function": "/TR" in pdf_object or pdf_object.get("/TR2", "/Default") != "/Default",
        "an image that is interpolated, or has alternates": str(pdf_object.get("/Interpolate")) == "True"
        or "/Alternates" in pdf_object,
        "a form of another program": subtype == "/Form" and any(key in pdf_object for key in ("/PS", "/OPI", "/Ref")),
        "a group or image in CMYK": "/DeviceCMYK" in (group.get("/CS"), pdf_object.get("/ColorSpace")),
        "a colour in CMYK": CMYK.search(_drawing(pdf_object)) is not None,
    }
    return [fault for fault, is_broken in rules.items() if is_broken]


def _drawing(pdf_object: DictionaryObject) -> bytes:
    """Return the content of a page, form or pattern, or empty bytes for any other object."""
    other_keys = {"/Type", "/Length1", "/N", "/FunctionType", "/BitsPerSample", "/BitsPerComponent"}
    if isinstance(pdf_object, StreamObject) and (
        pdf_object.get("/Subtype") == "/Form" or not other_keys & pdf_object.keys()
    ):
        return pdf_object.get_data()
    return b""
