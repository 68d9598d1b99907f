"""Recognise unsupported file formats by their first bytes, whatever the file name."""

_UNPACK = "unpack it and keep the content"
_SHEET = "save its sheet as CSV with commas, in UTF-8"
_BEGINNINGS = (
    (b"PAR1", "is Parquet", "give it the ending .parquet where Parquet is supported, or save it as text"),
    (b"\x1f\x8b", "is packed by gzip", _UNPACK),
    (b"BZh", "is packed by bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "is packed by xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is packed by zstd", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", _UNPACK),
    (b"PK\x03\x04", "is a ZIP archive, as spreadsheets (XLSX, ODS) are", f"{_SHEET}, or {_UNPACK}"),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet or document of old Office programs", _SHEET),
    (b"ARROW1", "is an Arrow file", "save it as Parquet or text"),
    (b"\x89HDF\r\n", "is an HDF5 file", "save its table as CSV"),
    (b"SQLite format 3\0", "is an SQLite database", "save its table as CSV"),
    (b"%PDF-", "is a PDF", "save the data that it shows as text"),
    (b"\xff\xfe", "is UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "is UTF-16", "save it in UTF-8"),
    (b"version https://git-lfs.github.com/spec/", "is a pointer to a file of Git LFS", "run `git lfs pull`"),
)
START = 400  # number of bytes at the beginning of a file that identify its format
_HTML_BEGINNINGS = ("<!doctype html", "<html")


def foreign_kind(content: bytes) -> str:
    """Return the format of bytes that are not UTF-8 text, with advice; empty if they may be UTF-8 text."""
    for beginning, kind, mend in _BEGINNINGS:
        if content.startswith(beginning):
            return f"{kind}; {mend}"
    start = content[:START]
    if len(start) > 8 and (not any(start[1::2]) or not any(start[::2])):
        return "is UTF-16 without a byte order mark; save it in UTF-8"
    return ""


def is_page(text: str) -> bool:
    """Return whether a text is an HTML page, which a server may send instead of a missing file."""
    return text.lstrip()[:20].lower().startswith(_HTML_BEGINNINGS)
