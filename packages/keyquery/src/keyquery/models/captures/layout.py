"""Write the published layout of a capture: a Parquet file per head and kind of vector, from the documents' parts."""

import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.store.files import draft, remove_drafts
from keyquery.models.architecture import Layer
from keyquery.models.captures import parts
from keyquery.models.captures.recorder import heads_by_layer
from keyquery.models.captures.sampling import PARTS, Buckets, HeadIndex, Letter
from keyquery.models.libraries import need

FILE = "data.parquet"
NAME = re.compile(r"^l(\d{2,})h(\d{2,})([qkvzrm])$")
WRITERS = 128  # maximum of open files
BUFFER = 64 << 20  # bytes buffered for row groups over all open files


def folder(layer: int, head: int, letter: Letter) -> str:
    """Return the folder name of a head's vectors of one kind, such as `l05h12q`."""
    return f"l{layer:02d}h{head:02d}{letter}"


def schema(dims: int) -> Any:
    """Return the Arrow schema of a file with vectors of dimension `dims`."""
    arrow = need("pyarrow", "to write captures")
    return arrow.schema(
        [
            ("bucket", arrow.int32()),
            ("example_id", arrow.int32()),
            ("position", arrow.int32()),
            ("vector", arrow.list_(arrow.float32(), dims)),
            ("sliding_window", arrow.int32()),
        ]
    )


def writer(path: Path, dims: int) -> Any:
    """Return an open writer of a Parquet file for tables with `schema(dims)`."""
    parquet = need("pyarrow.parquet", "to write captures")
    return parquet.ParquetWriter(
        path,
        schema(dims),
        compression="zstd",
        use_dictionary=["bucket", "example_id", "sliding_window"],  # vectors never repeat
        # grouping bytes of equal significance makes files a tenth smaller and faster to read
        use_byte_stream_split=["vector.list.element"],
        write_page_checksum=True,
    )


@dataclass
class _VectorFile:
    """A file that is being written, and the rows that wait for its next row group."""

    path: Path
    layer: Layer
    letter: Letter
    row: int  # the head's row in the arrays of the parts
    buckets: Buckets
    dims: int = 0
    writer: Any = None
    positions: list[NDArray[np.int32]] = field(default_factory=list)
    documents: list[NDArray[np.int32]] = field(default_factory=list)
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    waiting_rows: int = 0

    def add(self, document: int, positions: NDArray[np.int32], vectors: NDArray[np.float32]) -> None:
        self.positions.append(positions)
        self.documents.append(np.full(len(positions), document, dtype=np.int32))
        self.vectors.append(vectors)
        self.waiting_rows += len(positions)

    def flush(self) -> None:
        if not self.waiting_rows:
            return
        arrow = need("pyarrow")
        positions = np.concatenate(self.positions)
        flat = np.concatenate(self.vectors).reshape(-1)
        table_schema = schema(self.dims)
        columns = [
            arrow.array(self.buckets.of(positions.astype(np.int64))),
            arrow.array(np.concatenate(self.documents)),
            arrow.array(positions),
            arrow.FixedSizeListArray.from_arrays(arrow.array(flat), type=table_schema.field("vector").type),
            arrow.array([self.layer.window] * len(positions), type=arrow.int32()),
        ]
        self.writer.write_table(arrow.Table.from_arrays(columns, schema=table_schema))
        self.positions, self.documents, self.vectors, self.waiting_rows = [], [], [], 0


def gather_parts(
    root: Path,
    layers: Sequence[Layer],
    heads: Sequence[HeadIndex],
    buckets: Buckets,
    progress: Callable[[int, int], None] = lambda done, total: None,
    kinds: Collection[str] = (),
) -> None:
    """Merge the documents' parts below `root` into the published layout.

    Files are written atomically, and existing files are kept, so a killed run can be resumed. Memory use does not
    depend on the number of documents. `progress` is called with the number of written files and their total; `kinds`
    are the kinds of vectors besides queries and keys, as keys of `PARTS`.
    """
    remove_drafts(root)
    queries, keys = heads_by_layer(heads)
    by_index = {layer.index: layer for layer in layers}
    stream = {layer: [0] for layer in queries}
    heads_of: dict[Letter, dict[int, list[int]]] = {"v": keys, "z": queries, "r": stream, "m": stream}
    letters: list[tuple[Letter, dict[int, list[int]]]] = [("q", queries), ("k", keys)]
    letters += [(letter, heads_of[letter]) for name, letter in PARTS.items() if name in kinds]
    files = [
        _VectorFile(root / folder(index, head, letter) / FILE, by_index[index], letter, row, buckets)
        for index in queries
        for letter, heads_by_index in letters
        for row, head in enumerate(heads_by_index[index])
    ]
    unwritten = [file for file in files if not file.path.is_file()]
    finished = len(files) - len(unwritten)
    sources = parts.complete_parts(root)
    for start in range(0, len(unwritten), WRITERS):
        batch = unwritten[start : start + WRITERS]
        _write_batch(batch, sources)
        finished += len(batch)
        progress(finished, len(files))


def _write_batch(batch: list[_VectorFile], sources: dict[int, Path]) -> None:
    with parts.PartReader(next(iter(sources.values()))) as part:
        for file in batch:
            file.dims = int(part.array(f"{file.letter}{file.layer.index:02d}").shape[-1])
    rows = max(64, BUFFER // (len(batch) * 4 * max(file.dims for file in batch)))
    drafts = [draft(file.path) for file in batch]
    try:
        with parts.plain_disk_errors(batch[0].path), ExitStack() as stack:
            for file, path in zip(batch, drafts, strict=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                file.writer = stack.enter_context(writer(path, file.dims))
            for document, part_path in sources.items():
                with parts.PartReader(part_path) as part:
                    name, positions, vectors = "", np.empty(0, np.int32), np.empty(0, np.float32)
                    for file in batch:  # consecutive files of one layer and kind share the arrays
                        if name != (name := f"{file.letter}{file.layer.index:02d}"):
                            positions = part.array(f"{file.letter}p{file.layer.index:02d}")
                            vectors = part.array(name)
                        file.add(document, positions, vectors[file.row].copy())
                        if file.waiting_rows >= rows:
                            file.flush()
            for file in batch:
                file.flush()
        for file, path in zip(batch, drafts, strict=True):
            os.replace(path, file.path)
    finally:
        for path in drafts:
            path.unlink(missing_ok=True)
