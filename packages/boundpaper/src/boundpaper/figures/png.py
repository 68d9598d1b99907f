"""Draw dense matrices as PNG, with pixels computed here, so that they are the same on every machine."""

import struct
import zlib
from collections.abc import Sequence

from boundpaper.figures.style import SIGNED, VIRIDIS

SCALE = 8
"""Pixels per side of a cell, so that cell borders stay sharp in viewers that smooth pictures."""
WHITE = (255, 255, 255)


def heat_png(values: Sequence[Sequence[float | None]], low: float, high: float, colors: str) -> bytes:
    """Return a PNG of a matrix, with the first row on top.

    `low` and `high` are the values of the first and last colour; values beyond get the nearest of these, and None stays
    white. The picture is RGB without alpha, with 8 pixels per cell.
    """
    table = VIRIDIS if colors == "viridis" else SIGNED
    rows = []
    for line in values:
        cells = (WHITE if v is None else _interpolated_colour((v - low) / (high - low), table) for v in line)
        row = b"".join(bytes(cell) * SCALE for cell in cells)
        rows.append((b"\x00" + row) * SCALE)
    return png_file(b"".join(rows), len(values[0]) * SCALE, len(values) * SCALE)


def _interpolated_colour(share: float, table: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    at = min(max(share, 0.0), 1.0) * (len(table) - 1)
    i = min(int(at), len(table) - 2)
    r, g, b = (round(a + (b - a) * (at - i)) for a, b in zip(table[i], table[i + 1], strict=True))
    return r, g, b


def png_file(lines: bytes, width: int, height: int) -> bytes:
    """Return a PNG file of filtered RGB lines (https://www.w3.org/TR/png-3/), without metadata or alpha."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(lines, 9)) + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
