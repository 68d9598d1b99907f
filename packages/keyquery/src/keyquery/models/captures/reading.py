"""Read captures head by head from a folder or the Hub, without torch."""

from __future__ import annotations

from collections import Counter
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
from keyquery.models.captures.sampling import PARTS, HeadIndex, Letter
from keyquery.models.libraries import need
from keyquery.rotary import Rotary

GROUPS = 8  # maximal number of groups of documents, of which splits are made
NO_RECORD = "the capture does not record how its model rotates queries by position"
SAMPLED_FILES = 16  # files to read in order to infer the bucket size of a capture without a manifest


@dataclass(frozen=True)
class Vectors:
    """The queries, keys or other vectors of one head.

    `bucket`, `document` (the column `example_id`) and `position` are int32 of shape (n,), and `vectors` are float32 of
    shape (n, d).
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
        Numbers of the documents to read; None for all.
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
            Index of the layer, from 0.
        """
        if self.rotations is None:
            return NO_RECORD
        return self.rotations.get(layer, f"the capture does not record how layer {layer} rotates its queries")

    def window(self, layer: int) -> tuple[int | None, bool]:
        """Return the size of a layer's window or chunk (None without either), and whether the layer has chunks.

        The size is in the manifest or, if that does not list the layer, in the column `sliding_window` of a file.

        Parameters
        ----------
        layer : int
            Index of the layer, from 0.

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
        return self._vectors(head.layer, head.query, "q")

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
        return self._vectors(head.layer, head.key, "k")

    def part(self, name: str, head: HeadIndex) -> Vectors:
        """Return captured vectors other than queries and keys, of a head, its key head, or its layer.

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
        return self._vectors(head.layer, number, PARTS[name])

    def halves(self) -> list[tuple[Capture, Capture]]:
        """Return several balanced splits of the capture's documents into two halves.

        Documents are dealt in turn to eight groups or, if there are fewer documents, to the largest power of two. Each
        split is a row of a Hadamard matrix over the groups. The rows are orthogonal, so each split gives independent
        information on the noise of a mean.

        Raises
        ------
        DataError
            If the capture has only one document, or does not list its documents.
        """
        if len(self.documents) < 2:
            raise DataError(
                f"{self.root}: halves need two documents, but its manifest lists {len(self.documents)}; capture two "
                "or more, with a manifest that lists them"
            )
        groups = min(GROUPS, 1 << (len(self.documents).bit_length() - 1))
        halves = []
        for signs in hadamard(groups)[1:]:
            first = tuple(number for index, number in enumerate(self.documents) if signs[index % groups] > 0)
            second = tuple(number for index, number in enumerate(self.documents) if signs[index % groups] < 0)
            halves.append((replace(self, only=first), replace(self, only=second)))
        return halves

    @property
    def documents(self) -> tuple[int, ...]:
        """Numbers of the documents; empty if no manifest lists them."""
        numbers = sorted(int(document["number"]) for document in (self.manifest or {}).get("documents", ()))
        return tuple(numbers) if self.only is None else self.only

    def _vectors(self, layer: int, head: int, letter: Letter) -> Vectors:
        vectors = read(self.root / layout.folder(layer, head, letter) / layout.FILE)
        if self.only is None:
            return vectors
        mask = np.isin(vectors.document, self.only)
        return Vectors(vectors.bucket[mask], vectors.document[mask], vectors.position[mask], vectors.vectors[mask])


def read(path: Path) -> Vectors:
    """Return the vectors in one file of a capture; raise DataError if it is missing, damaged or lacks a column."""
    table = _table(path, ["bucket", "example_id", "position", "vector"])
    return Vectors(
        bucket=_integer_column(path, table, "bucket"),
        document=_integer_column(path, table, "example_id"),
        position=_integer_column(path, table, "position"),
        vectors=_vector_column(path, table),
    )


def _vector_column(path: Path, table: Any) -> NDArray[np.float32]:
    """Return the column of vectors (n, d); raise DataError unless all have the same length and finite numbers."""
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
        raise DataError(f"{path}: vectors have different lengths, or a row has no vector; capture this model again")
    chunks = [chunk.flatten() for chunk in column.chunks if len(chunk)]
    if not lengths["min"].as_py() or any(chunk.null_count for chunk in chunks):
        raise DataError(f"{path}: vectors are empty, or have a missing number; capture this model again")
    values = np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks]).astype(np.float32, copy=False)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())):
        raise DataError(f"{path}: vectors with NaN or infinity; capture this model again")
    return values.reshape(rows, -1)


def _column_window(path: Path) -> int | None:
    """Return the number in a file's column `sliding_window`; None if there is no such column, or no number in it."""
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
        Number of tokens per document, for a capture without a manifest; if None, it is inferred from the buckets.
    branch : str or None
        The branch of a Hub data set; the published captures have a branch for each model.
    group : int or None
        Query heads per key head, for a capture without a manifest; if None, inferred from the files' names.

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
        missing = [head for head in heads if (head.layer, head.query) not in files["q"]]
        if missing:
            raise DataError(
                f"{root}: {len(missing)} heads in its manifest have no file (first: {missing[0]}); capture again"
            )
        bucket_size = settings["context"] // settings["buckets"]
        return Capture(root, settings["context"], bucket_size, heads, stored, rotations=manifest.rotations_of(stored))
    bucket_size, last_bucket = _buckets_of_files(root, files)
    if context is None:
        context = bucket_size * (last_bucket + 1)
    elif context <= last_bucket * bucket_size:
        extent = f"its {last_bucket + 1} buckets of {bucket_size} tokens"
        raise DataError(f"{root}: {extent} exceed --context {context}; give more")
    group = group if group is not None else _query_group(root, files)
    heads = tuple(sorted(HeadIndex(layer, head, head // group) for layer, head in files["q"]))
    keyless = [head for head in heads if (head.layer, head.key) not in files["k"]]
    if keyless:
        fault = f"{keyless[0]} has no keys if {group} query heads share a key head"
        raise DataError(f"{root}: {fault}; give another --group")
    return Capture(root, context, bucket_size, heads)


def _head_files(root: Path) -> dict[Letter, set[tuple[int, int]]]:
    """Return the (layer, head) pairs that have a file of queries, and those that have a file of keys."""
    heads: dict[Letter, set[tuple[int, int]]] = {"q": set(), "k": set()}
    for folder in root.iterdir():
        match = layout.NAME.match(folder.name)
        if match and match[3] in heads and (folder / layout.FILE).is_file():
            heads["q" if match[3] == "q" else "k"].add((int(match[1]), int(match[2])))
    if not heads["q"] and manifest.read(root) is None:
        raise DataError(f"{root}: not a capture: no folder with a name such as l05h12q holds {layout.FILE}")
    return heads


def _query_group(root: Path, files: dict[Letter, set[tuple[int, int]]]) -> int:
    """Infer the number of query heads per key head: with this number, exactly the query heads' key heads have files.

    If a layer has all its query heads, the number divides their count. Raises DataError unless one number fits.
    """
    queries = sorted(files["q"])
    head_count = max(head for _, head in queries) + 1
    sizes: dict[tuple[int, ...], int] = {}  # by the key heads of the query heads, since some sizes give the same
    for size in range(1, head_count + 1):
        if {(layer, head // size) for layer, head in queries} == files["k"]:
            sizes.setdefault(tuple(head // size for _, head in queries), size)
    if head_count in Counter(layer for layer, _ in queries).values():
        sizes = {key_heads: size for key_heads, size in sizes.items() if head_count % size == 0}
    if len(sizes) != 1:
        reason = f"{sorted(sizes.values())} all fit" if sizes else "no number fits"
        raise DataError(f"{root}: query heads per key head do not follow from the file names ({reason}); give --group")
    return next(iter(sizes.values()))


def _buckets_of_files(root: Path, files: dict[Letter, set[tuple[int, int]]]) -> tuple[int, int]:
    """Return the bucket size B for which position // B == bucket, and the largest bucket, in a sample of files.

    Each row bounds B from below and above; of the possible numbers, the one divisible by the highest power of two is B.
    """
    low, high, last = 1, np.iinfo(np.int32).max, 0
    folders = [layout.folder(layer, head, letter) for letter, heads in files.items() for layer, head in sorted(heads)]
    for folder in folders[:: max(1, len(folders) // SAMPLED_FILES)]:
        path = root / folder / layout.FILE
        table = _table(path, ["bucket", "position"])
        bucket = _integer_column(path, table, "bucket").astype(np.int64)
        position = _integer_column(path, table, "position").astype(np.int64)
        if not len(bucket):
            continue
        low = max(low, int((position // (bucket + 1)).max()) + 1)
        in_later_bucket = bucket > 0
        if in_later_bucket.any():
            high = min(high, int((position[in_later_bucket] // bucket[in_later_bucket]).min()))
        last = max(last, int(bucket.max()))
    if last == 0:
        raise DataError(f"{root}: only one bucket, so its size cannot be inferred; give --context")
    if low > high:
        raise DataError(f"{root}: no bucket size B gives bucket = position // B in all rows, as in a capture")
    power = 1
    while (high // (power * 2)) * power * 2 >= low:
        power *= 2
    return high // power * power, last


def _download_capture(place: str, branch: str | None) -> Path:
    if place.count("/") != 1 or place.startswith((".", "/")):
        raise DataError(f"{place}: no such folder")
    hub = need("huggingface_hub", f"to fetch {place}")
    try:
        return Path(hub.snapshot_download(place, repo_type="dataset", revision=branch))
    except Exception as error:  # huggingface_hub raises many kinds of errors
        message = (str(error) or type(error).__name__).splitlines()[0]
        where = f" (branch {branch})" if branch else ""
        raise DataError(
            f"{place}{where}: neither a local folder nor a data set on the Hub ({message}); check the id, the "
            "branch and the connection"
        ) from error


def _table(path: Path, columns: Sequence[str]) -> Any:
    arrow, parquet = need("pyarrow", "to read captures"), need("pyarrow.parquet", "to read captures")
    try:
        with parquet.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:
            table = file.read(columns=list(columns))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file in this capture") from None
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from error
    missing = sorted(set(columns) - set(table.column_names))
    if missing:
        raise DataError(f"{path}: no column {missing[0]!r}; this is not a capture's file")
    return table


def _integer_column(path: Path, table: Any, column: str) -> NDArray[np.int32]:
    arrow = need("pyarrow", "to read captures")
    array = table[column]
    if not arrow.types.is_integer(array.type) or array.null_count:
        raise DataError(f"{path}: `{column}` holds {array.type} (missing: {array.null_count}), not whole numbers alone")
    values = array.to_numpy()
    if len(values) and (values.min() < 0 or values.max() > np.iinfo(np.int32).max):
        raise DataError(f"{path}: `{column}` runs from {values.min()} to {values.max()}, but must be int32 from 0")
    return np.asarray(values, dtype=np.int32)
