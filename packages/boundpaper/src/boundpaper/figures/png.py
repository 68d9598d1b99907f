"""Draw dense matrices as PNG files that are the same on every machine."""

import struct
import zlib
from collections.abc import Sequence

from boundpaper.figures.style import SIGNED, VIRIDIS

SCALE = 8
"""Pixels per side of a cell, so that cell borders stay sharp in viewers that smooth pictures."""
WHITE = (255, 255, 255)


def heat_png(values: Sequence[Sequence[float | None]], low: float, high: float, colors: str) -> bytes:
    """Return a PNG of a matrix, with the first row on top.

    `low` and `high` are the values of the first and last colour; lower values get the first and higher ones the last.
    None stays white. The picture is RGB without alpha, with 8 by 8 pixels per cell.
    """
    colours = VIRIDIS if colors == "viridis" else SIGNED
    scanlines = []
    for row in values:
        cells = (WHITE if v is None else _interpolated_colour((v - low) / (high - low), colours) for v in row)
        pixels = b"".join(bytes(cell) * SCALE for cell in cells)
        scanlines.append((b"\x00" + pixels) * SCALE)
    return png_file(b"".join(scanlines), len(values[0]) * SCALE, len(values) * SCALE)


def _interpolated_colour(fraction: float, colours: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    position = min(max(fraction, 0.0), 1.0) * (len(colours) - 1)
    i = min(int(position), len(colours) - 2)
    r, g, b = (round(a + (b - a) * (position - i)) for a, b in zip(colours[i], colours[i + 1], strict=True))
    return r, g, b


def png_file(scanlines: bytes, width: int, height: int) -> bytes:
    """Return a PNG file of filtered RGB scanlines (https://www.w3.org/TR/png-3/), without metadata or alpha."""
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + _chunk(b"IDAT", zlib.compress(scanlines, 9)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
