"""Read, write and compare a capture's manifest: what was captured, from which texts, and with which libraries."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypedDict, cast

from boundpaper.errors import DataError, ModelError
from boundpaper.store.cached_files import SEAL, hash_fault, with_hash
from boundpaper.store.files import write
from boundpaper.store.json_text import parsed
from boundpaper.suggestions import or_known
from keyquery.models.architecture import Layer, QueryScale
from keyquery.models.captures.sampling import HeadIndex
from keyquery.rotary import NO_ROTATION, Rotary, from_record

FILE = "manifest.json"
FORMAT = 1
_MODULE = "keyquery.models.captures.manifest"
MAX_INTEGER = 2**31 - 1  # columns of files have 32 bits
ROTATION_KEYS = frozenset(("layers", "refused", "frequencies", "layout", "start", "factor"))
LAYER_DEFAULTS = {"softcap": None, "sink": False}  # values of fields that layers in older manifests lack


class DocumentFacts(TypedDict, total=False):
    """A document of a capture; `tokens` is given only if documents differ in length."""

    number: int
    id: str
    digest: str
    tokens: int


class CaptureSettings(TypedDict, total=False):
    """Settings of a capture: the requested ones and, from `revision` on, facts of the loaded model."""

    model: str
    asked_revision: str | None
    asked_dtype: str
    quantize: str | None
    double: bool
    texts: str
    texts_hash: str
    field: str
    split: str
    context: int
    buckets: int
    rate: float
    heads: int | None
    documents: int | None
    seed: int
    pre_rope: bool
    sliding: bool
    windows: bool
    window_ends: str
    skip_short: bool
    keep_short: bool
    only_layers: list[int]
    only_heads: list[list[int]]
    parts: list[str]
    revision: str | None
    fingerprint: str | None
    architecture: str
    model_type: str
    dtype: str
    quantization: dict[str, object] | None
    attention: str
    load_as: str
    scaling: float
    gguf: dict[str, object]
    bos: bool
    position: str
    encoding: str
    head_seed: int
    layers: list[dict[str, object]]
    captured_heads: list[list[int]]


class Manifest(TypedDict, total=False):
    """The content of a manifest without its hash."""

    format: int
    complete: bool
    settings: CaptureSettings
    versions: dict[str, str]
    notes: list[str]
    rotations: list[dict[str, object]]
    documents: list[DocumentFacts]


def read(root: Path) -> Manifest | None:
    """Return the manifest of a folder; None if the folder has no manifest.

    Raises DataError if its format is unknown to this version, it is malformed, or its hash does not match.
    """
    path = root / FILE
    try:
        data = parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a manifest ({error}); remove the folder and capture again") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        number = str(data.get("format"))[:20] if isinstance(data, dict) else "?"
        raise DataError(f"{path}: has format {number}, but only format {FORMAT} can be read; capture again")
    if SEAL not in data:
        raise DataError(
            f"{path}: {hash_fault(data)}, as in version 0.1.0; if you trust the file, run: python -m {_MODULE} {root}"
        )
    if fault := _format_fault(data) or hash_fault(data):
        raise DataError(f"{path}: {fault}; restore it, or remove the folder and capture again")
    return cast(Manifest, {name: value for name, value in data.items() if name != SEAL})


def seal_manifest(root: Path) -> None:
    """Add the missing hash to a manifest that version 0.1.0 wrote; only a user who trusts the manifest should do so.

    Raises DataError if there is no manifest, or if it is malformed.
    """
    path = root / FILE
    try:
        data = parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a manifest ({error})") from None
    if isinstance(data, dict) and SEAL not in data and data.get("format") == FORMAT and not _format_fault(data):
        save(root, data)
    read(root)


def _unknown_key(record: Mapping[str, Any], known_keys: Iterable[str], where: str) -> str:
    """Return a message on the first unknown key, with the nearest known key; empty if all are known."""
    unknown = sorted(set(record).difference(known_keys))
    return f"unknown key `{str(unknown[0])[:60]}` {where}{or_known(unknown[0], sorted(known_keys))}" if unknown else ""


def _unknown_key_anywhere(content: Mapping[str, Any]) -> str:
    """Return a message on the first unknown key anywhere in a manifest, whose values must have the right types."""
    settings = content["settings"]
    layer_keys = [field.name for field in fields(Layer)]
    messages = (
        _unknown_key(content, (*Manifest.__annotations__, SEAL), "of the manifest"),
        _unknown_key(settings, CaptureSettings.__annotations__, "of `settings`"),
        *(_unknown_key(row, layer_keys, "of a layer") for row in settings.get("layers", [])),
        *(_unknown_key(row, ROTATION_KEYS, "of `rotations`") for row in content.get("rotations") or []),
        *(_unknown_key(row, DocumentFacts.__annotations__, "of a document") for row in content.get("documents", [])),
    )
    return next(filter(None, messages), "")


def _format_fault(content: Mapping[str, Any]) -> str:
    """Return a message on the first fault in the format of a manifest; empty if there is none."""
    settings = content.get("settings")
    if not isinstance(settings, dict):
        return "no `settings`"
    for name in ("context", "buckets"):
        if not _is_count(settings.get(name), 1):
            return f"`{name}` is not a whole number above 0"
    if settings["buckets"] > settings["context"]:
        return "more buckets than tokens of the context"
    if not isinstance(settings.get("model", ""), str):
        return "`model` is not a text"
    heads = settings.get("captured_heads")
    if not isinstance(heads, list) or not heads:
        return "`captured_heads` is not a list, or empty"
    if not all(isinstance(row, list) and len(row) == 3 and all(_is_count(index, 0) for index in row) for row in heads):
        return "`captured_heads` are not rows of layer, query head and key head"
    layers = settings.get("layers", [])
    if not isinstance(layers, list) or not all(isinstance(row, dict) for row in layers):
        return "`layers` is not a list of mappings"
    if not all(_is_count(row.get("index", 0), 0) for row in layers):
        return "the `index` of a layer is not a whole number from 0"
    if not all(row.get("window") is None or _is_count(row["window"], 1) for row in layers):
        return "the `window` of a layer is not a whole number above 0"
    if not isinstance(content.get("versions", {}), dict):
        return "`versions` is not a mapping"
    documents = content.get("documents", [])
    if not isinstance(documents, list) or not all(isinstance(row, dict) for row in documents):
        return "`documents` is not a list of mappings"
    notes = content.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "`notes` is not a list of texts"
    try:
        rotations_of(content)
    except (KeyError, TypeError, ValueError) as error:
        return f"`rotations` do not say how layers turn ({error})"
    return _unknown_key_anywhere(content)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_INTEGER


def save(root: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest atomically, with its hash."""
    read_back = json.loads(json.dumps({"format": FORMAT, **content}))  # the hash is that of the values as read
    write(root / FILE, (json.dumps(with_hash(read_back), indent=1, ensure_ascii=False) + "\n").encode())


def agree(root: Path, stored: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise ModelError if the `stored` manifest of a folder has other settings; the error names each of them."""
    old: Mapping[str, Any] = stored.get("settings", {})
    differences = [
        f"{name} {_shortened(old.get(name))} there, {_shortened(settings.get(name))} here"
        for name in sorted({*old, *settings})
        if not _setting_agrees(name, old, settings)
    ]
    if differences:
        raise ModelError(f"{root}: holds another capture ({'; '.join(differences)}); remove it or give another --out")


def _setting_agrees(name: str, old_settings: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Return whether a setting is the same; an older manifest may have a path in place of a name, or lack a value."""
    old, new = old_settings.get(name), settings.get(name)
    if name == "texts_hash" and None in (old, new):
        return True
    if name in ("model", "texts") and isinstance(old, str) and Path(old).is_absolute():
        return Path(old).name == new
    if name == "layers" and isinstance(old, list) and isinstance(new, list):
        return [{**LAYER_DEFAULTS, **row} for row in old] == [{**LAYER_DEFAULTS, **row} for row in new]
    return bool(old == new)


def _shortened(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 60 else text[:57] + "..."


def layers_of(content: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Return the layers that a manifest lists."""
    return tuple(
        Layer(**{**row, "query_scale": QueryScale(**row["query_scale"]) if row["query_scale"] else None})
        for row in content["settings"]["layers"]
    )


def rotations_of(content: Mapping[str, Any]) -> dict[int, Rotary | str] | None:
    """Return each layer's rotation in a manifest, or why it is unknown; None if an older manifest does not list them.

    Vectors that are captured before the rotary embedding have no rotation.
    """
    if content["settings"].get("pre_rope"):
        return {int(row[0]): NO_ROTATION for row in content["settings"]["captured_heads"]}
    if "rotations" not in content:
        return None
    return {
        int(layer): str(row["refused"]) if "refused" in row else from_record(row)
        for row in content["rotations"]
        for layer in row["layers"]
    }


def heads_of(content: Mapping[str, Any]) -> tuple[HeadIndex, ...]:
    """Return the heads that a manifest lists."""
    return tuple(HeadIndex(*row) for row in content["settings"]["captured_heads"])


def head_rows(heads: Sequence[HeadIndex]) -> list[list[int]]:
    """Return heads as JSON rows: layer, query head, key head."""
    return [[head.layer, head.query, head.key] for head in heads]


def main(folders: Sequence[str]) -> int:
    """Add hashes to the manifests of folders (see `seal_manifest`); return the exit status."""
    if not folders:
        print(f"usage: python -m {_MODULE} FOLDER...", file=sys.stderr)
        return 2
    try:
        for folder in folders:
            seal_manifest(Path(folder))
            print(Path(folder) / FILE)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
