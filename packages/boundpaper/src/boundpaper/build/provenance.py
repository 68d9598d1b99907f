"""Record the origin of every artifact in the artifact `provenance`."""

import pandas as pd

from boundpaper.build.job import Job
from boundpaper.store.checked import recorded_content
from boundpaper.store.descriptor import files, resource
from boundpaper.store.manifest import manifest
from boundpaper.store.paths import SUFFIXES
from boundpaper.store.results import bytes_to_keep, text


def build(job: Job) -> dict[str, bytes]:
    """Build the inventory: one row per file of sources, measurements and results, except the inventory itself.

    The columns are artifact, kind, file, rows, origin, command, versions and hash (the first 12 digits of the hash of
    the file's canonical content). Times and properties of the machine are omitted, so that the table is the same on
    every machine.
    """
    path = "artifacts/results/provenance.csv"
    rows = []
    for kind in ("source", "measurement", "result"):
        folder = job.root / "artifacts" / f"{kind}s"
        tables = (table.relative_to(folder) for suffix in SUFFIXES for table in folder.glob(f"**/*{suffix}"))
        names = {table.parts[0].removesuffix(table.suffix) for table in tables}
        for name in sorted(names - {"provenance"}):
            rows += [_inventory_row(job, name, kind, file) for file in files(job.root, name)]
    return {path: bytes_to_keep(job.root / path, text(pd.DataFrame(rows), "provenance").encode())}


def _inventory_row(job: Job, name: str, kind: str, file: str) -> dict[str, object]:
    descriptor = resource(job.root, name) or {}
    origins = descriptor.get("origin") or []
    awaits = f"awaits {descriptor['awaits']}" if "awaits" in descriptor else ""
    commands = {"source": "transcribed", "result": f"python build.py analyze {name}", "measurement": awaits}
    record = manifest(job.root, file)
    versions = record.get("versions", {})
    rows, content_hash = recorded_content(job.root, name, file)
    return {
        "artifact": name,
        "kind": kind,
        "file": file.removeprefix("artifacts/"),
        "rows": rows,
        "origin": "; ".join(map(_origin_in_words, origins)) or str(descriptor.get("title", "computed")),
        "command": record.get("command", commands[kind]),
        "versions": "; ".join(f"{library} {version}" for library, version in sorted(versions.items())),
        "hash": content_hash[:12],
    }


def _origin_in_words(origin: object) -> str:
    if isinstance(origin, dict):
        return ", ".join(str(value) for value in origin.values() if value)
    return str(origin)
