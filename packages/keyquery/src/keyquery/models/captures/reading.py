"""Read captures, made by this package or published, from a folder or the Hub, head by head; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from boundpaper.errors import DataError
from boundpaper.suggestions import or_known
from keyquery.models.captures import layout, manifest
from keyquery.models.captures.manifest import Manifest
from keyquery.models.captures.sampling import PARTS, HeadIndex, Side
from keyquery.models.libraries import need
from keyquery.rotary import Rotary

GROUPS = 8  # of documents that are halved
NO_RECORD = "the capture does not record how its model rotates queries by position"
SAMPLED_FILES = 16  # files to read in order to infer the bucket size of a capture without a manifest


@dataclass(frozen=True)
class Vectors:
    """Queries or keys of one head.

    `bucket`, `document` (the published `example_id`) and `position` are int32 of shape (n,), `vectors` float32 of shape
    (n, d).
    """

    bucket: NDArray[np.int32]
    document: NDArray[np.int32]
    position: NDArray[np.int32]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Capture:
    """A capture on disk.

    Parameters
    ----------
    root : Path
        Folder of the capture.
    context : int
        Number of tokens per document.
    bucket_size : int
        Number of tokens per bucket (B).
    heads : tuple of HeadIndex
        The captured heads, sorted.
    manifest : dict or None
        The manifest; None for captures that this package did not make.
    only : tuple of int or None
        Read only documents with these numbers; None for all.
    rotations : mapping or None
        By layer, the rotation of vectors, or why it is unknown; None if not recorded.

    Examples
    --------
    >>> import keyquery as kq
    >>> _ = open("text.txt", "w").write("Anna likes Ben . " * 400)
    >>> made = kq.capture("tiny-rope", "text.txt", context=128, out="captured", heads=2, rate=8, windows=True)
    >>> made.buckets, made.queries(made.heads[0]).vectors.shape[1]
    (16, 32)
    """

    root: Path
    context: int
    bucket_size: int
    heads: tuple[HeadIndex, ...]
    manifest: Manifest | None = None
    only: tuple[int, ...] | None = None
    rotations: Mapping[int, Rotary | str] | None = None

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return -(-self.context // self.bucket_size)

    def rotation(self, layer: int) -> Rotary | str:
        """Return the rotation of a layer's queries and keys, or the reason why it is unknown.

        Parameters
        ----------
        layer : int
            From 0.
        """
        if self.rotations is None:
            return NO_RECORD
        return self.rotations.get(layer, f"the capture does not record how layer {layer} rotates its queries")

    def window(self, layer: int) -> tuple[int | None, bool]:
        """Return how many tokens a query of a layer sees (None: all before it), and whether this is a chunk's size.

        It is read from the manifest, or if there is none, from the column `sliding_window` of a file of the layer.

        Parameters
        ----------
        layer : int
            From 0.

        Raises
        ------
        DataError
            If the column has several numbers.
        """
        rows: Sequence[Mapping[str, Any]] = (self.manifest or {}).get("settings", {}).get("layers", ())
        by_index = {int(row["index"]): row for row in rows if "index" in row}
        if layer in by_index:
            window = by_index[layer].get("window")
            return None if window is None else int(window), by_index[layer].get("kind") == "chunked"
        path = next(
            self.root / layout.folder(layer, head.query, "q") / layout.FILE
            for head in self.heads
            if head.layer == layer
        )
        return _column_window(path), False

    def queries(self, head: HeadIndex) -> Vectors:
        """Return the queries of a head.

        Parameters
        ----------
        head : HeadIndex
            One of `heads`.

        Raises
        ------
        DataError
            When its file is absent or damaged.
        """
        return self._kept(read(self.root / layout.folder(head.layer, head.query, "q") / layout.FILE))

    def keys(self, head: HeadIndex) -> Vectors:
        """Return the keys of the key head that a head reads.

        Parameters
        ----------
        head : HeadIndex
            One of `heads`.

        Raises
        ------
        DataError
            When its file is absent or damaged.
        """
        return self._kept(read(self.root / layout.folder(head.layer, head.key, "k") / layout.FILE))

    def part(self, name: str, head: HeadIndex) -> Vectors:
        """Return a captured part other than queries and keys, for the head, its key head, or its layer.

        Parameters
        ----------
        name : {"values", "outputs", "residual", "mlp"}
            Values of the key head; the head's attention output before the output projection; the residual stream
            after the layer; the output of the layer's MLP.
        head : HeadIndex
            One of `heads`.

        Raises
        ------
        DataError
            If the part was not captured, or its file is damaged.
        """
        if name not in PARTS:
            raise DataError(f"no part {name!r}{or_known(name, PARTS)}")
        if name not in (self.manifest or {}).get("settings", {}).get("parts", ()):
            raise DataError(f"{self.root}: {name} were not captured; capture anew with --parts {name}")
        number = {"values": head.key, "outputs": head.query}.get(name, 0)
        return self._kept(read(self.root / layout.folder(head.layer, number, PARTS[name]) / layout.FILE))

    def halves(self) -> list[tuple[Capture, Capture]]:
        """Return several balanced splits of the capture into two halves of its documents.

        Documents are dealt in turn to eight groups (with fewer documents, to the largest possible power of two); each
        split is a row of a Hadamard matrix over the groups. Splits are orthogonal, so each gives independent
        information on a mean's noise.

        Raises
        ------
        DataError
            If it has only one document, or does not list its documents.
        """
        if len(self.documents) < 2:
            raise DataError(
                f"{self.root}: {len(self.documents)} documents cannot be halved; capture more, with a manifest that "
                "lists them"
            )
        groups = min(GROUPS, 1 << (len(self.documents).bit_length() - 1))
        halves = []
        for signs in hadamard(groups)[1:]:
            side = [signs[place % groups] > 0 for place in range(len(self.documents))]
            first = tuple(number for number, in_first in zip(self.documents, side, strict=True) if in_first)
            second = tuple(number for number, in_first in zip(self.documents, side, strict=True) if not in_first)
            halves.append((replace(self, only=first), replace(self, only=second)))
        return halves

    @property
    def documents(self) -> tuple[int, ...]:
        """Return the numbers of the documents; empty if no manifest lists them."""
        numbers = sorted(int(document["number"]) for document in (self.manifest or {}).get("documents", ()))
        return tuple(numbers) if self.only is None else self.only

    def _kept(self, vectors: Vectors) -> Vectors:
        if self.only is None:
            return vectors
        mask = np.isin(vectors.document, self.only)
        return Vectors(vectors.bucket[mask], vectors.document[mask], vectors.position[mask], vectors.vectors[mask])


def read(path: Path) -> Vectors:
    """Read one file of a capture.

    Raises DataError if it is missing, damaged or lacks a column.
    """
    table = _table(path, ["bucket", "example_id", "position", "vector"])
    return Vectors(
        bucket=_integer_column(path, table, "bucket"),
        document=_integer_column(path, table, "example_id"),
        position=_integer_column(path, table, "position"),
        vectors=_vector_column(path, table),
    )


def _vector_column(path: Path, table: Any) -> NDArray[np.float32]:
    """Return the column of vectors, shape (n, d); DataError unless all are finite numbers of one length."""
    arrow, compute = need("pyarrow", "to read captures"), need("pyarrow.compute", "to read captures")
    column, rows = table["vector"], table.num_rows
    kinds = arrow.types
    lists = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    if not any(kind(column.type) for kind in lists) or not kinds.is_floating(column.type.value_type):
        raise DataError(f"{path}: `vector` has type {column.type}, not lists of floats; this is not a capture's file")
    if not rows:
        return np.empty((0, 0), np.float32)
    lengths = compute.min_max(compute.list_value_length(column))
    if column.null_count or lengths["min"] != lengths["max"]:
        raise DataError(f"{path}: vectors of different lengths, or a row without a vector")
    flat = [chunk.flatten() for chunk in column.chunks if len(chunk)]
    if not lengths["min"].as_py() or any(chunk.null_count for chunk in flat):
        raise DataError(f"{path}: empty vectors, or vectors with a missing number")
    values = np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in flat]).astype(np.float32, copy=False)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())):
        raise DataError(f"{path}: vectors with NaN or infinity; capture this model again")
    return values.reshape(rows, -1)


def _column_window(path: Path) -> int | None:
    """Return the only number in a file's column `sliding_window`; None if there is no such column or number."""
    parquet = need("pyarrow.parquet", "to read captures")
    try:
        if "sliding_window" not in parquet.read_schema(path).names:
            return None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from error
    windows = sorted({size for size in _table(path, ["sliding_window"])["sliding_window"].unique().to_pylist() if size})
    if len(windows) > 1:
        raise DataError(f"{path}: `sliding_window` holds {windows}, but a layer has only one window")
    return int(windows[0]) if windows else None


def open_capture(
    place: str | Path, *, context: int | None = None, branch: str | None = None, group: int | None = None
) -> Capture:
    """Open a capture.

    Parameters
    ----------
    place : str or Path
        A folder, or the Hub id of a data set in the published layout.
    context : int or None
        Number of tokens per document, for a capture without a manifest; by default inferred from the buckets.
    branch : str or None
        The branch of a Hub data set (one per model in the published captures).
    group : int or None
        Query heads per key head, for a capture without a manifest; by default inferred from the files.

    Raises
    ------
    DataError
        If there is no capture, it is unfinished, or a missing value cannot be inferred.

    Examples
    --------
    >>> import keyquery as kq
    >>> _ = open("text.txt", "w").write("Anna likes Ben . " * 400)
    >>> made = kq.capture("tiny-rope", "text.txt", context=128, out="captured", heads=2, rate=8, windows=True)
    >>> kq.open_capture("captured").heads == made.heads
    True
    """
    root = Path(place)
    if not root.is_dir():
        root = _download_capture(str(place), branch)
    files = _head_files(root)
    stored = manifest.read(root)
    if stored is not None:
        if not stored.get("complete"):
            raise DataError(f"{root}: this capture is unfinished; rerun the same capture command to resume it")
        settings = stored["settings"]
        if context is not None and context != settings["context"]:
            raise DataError(f"{root}: captured at a context of {settings['context']}; leave --context {context} out")
        heads = manifest.heads_of(stored)
        absent = [head for head in heads if (head.layer, head.query) not in files["q"]]
        if absent:
            raise DataError(
                f"{root}: {len(absent)} heads in its manifest have no file (first: {absent[0]}); capture again"
            )
        size = settings["context"] // settings["buckets"]
        return Capture(root, settings["context"], size, heads, stored, rotations=manifest.rotations_of(stored))
    size, top = _buckets_of_files(root, files)
    if context is None:
        context = size * (top + 1)
    elif context <= top * size:
        raise DataError(f"{root}: its {top + 1} buckets of {size} tokens exceed --context {context}; give more")
    share = group if group is not None else _query_group(root, files)
    heads = tuple(sorted(HeadIndex(layer, head, head // share) for layer, head in files["q"]))
    bad = [head for head in heads if (head.layer, head.key) not in files["k"]]
    if bad:
        raise DataError(f"{root}: {bad[0]} has no keys if {share} query heads share a key head; give another --group")
    return Capture(root, context, size, heads)


def _head_files(root: Path) -> dict[Side, set[tuple[int, int]]]:
    heads: dict[Side, set[tuple[int, int]]] = {"q": set(), "k": set()}
    for entry in root.iterdir():
        match = layout.NAME.match(entry.name)
        if match and match[3] in heads and (entry / layout.FILE).is_file():
            heads["q" if match[3] == "q" else "k"].add((int(match[1]), int(match[2])))
    if not heads["q"] and manifest.read(root) is None:
        raise DataError(f"{root}: not a capture, whose folders are named like l05h12q and hold {layout.FILE}")
    return heads


def _query_group(root: Path, files: dict[Side, set[tuple[int, int]]]) -> int:
    """Return the number of query heads per key head that maps the q-files exactly onto the k-files.

    If all query heads are present, this number divides their count.
    """
    head_count = max(head for _, head in files["q"]) + 1
    groups: dict[tuple[int, ...], int] = {}
    for size in range(1, head_count + 1):
        if {(layer, head // size) for layer, head in files["q"]} == files["k"]:
            groups.setdefault(tuple(head // size for _, head in sorted(files["q"])), size)
    whole = any({head for at, head in files["q"] if at == layer} == set(range(head_count)) for layer, _ in files["q"])
    if whole:
        groups = {heads: size for heads, size in groups.items() if head_count % size == 0}
    if len(groups) != 1:
        reason = f"{sorted(groups.values())} all fit" if groups else "no number fits"
        raise DataError(f"{root}: query heads per key head do not follow from the file names ({reason}); give --group")
    return next(iter(groups.values()))


def _buckets_of_files(root: Path, files: dict[Side, set[tuple[int, int]]]) -> tuple[int, int]:
    """Return B and the largest bucket, where position // B == bucket in a sample of files.

    Every row bounds B from both sides; among possible numbers, the one divisible by the highest power of two is chosen.
    """
    low, high, top = 1, np.iinfo(np.int32).max, 0
    names = [(layer, head, side) for side, heads in files.items() for layer, head in sorted(heads)]
    for layer, head, side in names[:: max(1, len(names) // SAMPLED_FILES)]:
        table = _table(root / layout.folder(layer, head, side) / layout.FILE, ["bucket", "position"])
        place = root / layout.folder(layer, head, side) / layout.FILE
        bucket = _integer_column(place, table, "bucket").astype(np.int64)
        position = _integer_column(place, table, "position").astype(np.int64)
        if not len(bucket):
            continue
        low = max(low, int((position // (bucket + 1)).max()) + 1)
        not_first = bucket > 0
        if not_first.any():
            high = min(high, int((position[not_first] // bucket[not_first]).min()))
        top = max(top, int(bucket.max()))
    if top == 0:
        raise DataError(f"{root}: only one bucket, so its size cannot be inferred; give --context")
    if low > high:
        raise DataError(f"{root}: no size B makes every bucket position // B; this is another layout")
    power = 1
    while (high // (power * 2)) * power * 2 >= low:
        power *= 2
    return high // power * power, top


def _download_capture(place: str, branch: str | None) -> Path:
    if place.count("/") != 1 or place.startswith((".", "/")):
        raise DataError(f"{place}: no such folder")
    hub = need("huggingface_hub", f"to fetch {place}")
    try:
        return Path(hub.snapshot_download(place, repo_type="dataset", revision=branch))
    except Exception as error:  # the Hub raises many kinds of errors; all mean that the capture is not available
        message = (str(error) or type(error).__name__).splitlines()[0]
        where = f" (branch {branch})" if branch else ""
        raise DataError(
            f"{place}{where}: neither a local folder nor a data set on the Hub ({message}); check the id, the "
            "branch and the connection"
        ) from error


def _table(path: Path, columns: Sequence[str]) -> Any:
    arrow, parquet = need("pyarrow", "to read captures"), need("pyarrow.parquet", "to read captures")
    try:
        with parquet.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:  # nothing is far
            table = file.read(columns=list(columns))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file in this capture") from None
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from error
    absent = sorted(set(columns) - set(table.column_names))
    if absent:
        raise DataError(f"{path}: no column {absent[0]!r}; this is not a capture's file")
    return table


def _integer_column(path: Path, table: Any, column: str) -> NDArray[np.int32]:
    arrow = need("pyarrow", "to read captures")
    array = table[column]
    if not arrow.types.is_integer(array.type) or array.null_count:
        raise DataError(f"{path}: `{column}` holds {array.type} with {array.null_count} gaps, not whole numbers alone")
    values = array.to_numpy()
    if len(values) and (values.min() < 0 or values.max() > np.iinfo(np.int32).max):
        raise DataError(f"{path}: `{column}` runs from {values.min()} to {values.max()}, but counts from 0")
    return np.asarray(values, dtype=np.int32)
