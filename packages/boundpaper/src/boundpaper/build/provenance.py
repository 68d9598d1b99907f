"""Record the origin of every artifact in the artifact `artifact_inventory`."""

import pandas as pd

from boundpaper.build.job import Job
from boundpaper.store.checked import recorded_content
from boundpaper.store.descriptor import files, resource
from boundpaper.store.manifest import manifest
from boundpaper.store.paths import SUFFIXES
from boundpaper.store.results import bytes_to_keep, text


def build(job: Job) -> dict[str, bytes]:
    """Build the inventory: one row per file of sources, measurements and results, except the inventory itself.

    Columns: artifact, kind, file, rows, origin, command, versions, hash (the first 12 digits of the hash of
    its canonical content).
    Times and properties of the machine are omitted, so that the table is the same on every machine.
    """
    path = "artifacts/results/provenance.csv"
    entries = []
    for folder, kind in (("sources", "source"), ("measurements", "measurement"), ("results", "result")):
        base = job.root / "artifacts" / folder
        tables = (part.relative_to(base) for suffix in SUFFIXES for part in base.glob(f"**/*{suffix}"))
        names = sorted({part.parts[0].removesuffix(part.suffix) for part in tables})
        for name in (name for name in names if name != "provenance"):
            for file in files(job.root, name):
                entries.append(_inventory_row(job, name, kind, file))
    return {path: bytes_to_keep(job.root / path, text(pd.DataFrame(entries), "provenance").encode())}


def _inventory_row(job: Job, name: str, kind: str, file: str) -> dict[str, object]:
    table = resource(job.root, name) or {}
    origins = table.get("origin") or []
    awaited = f"awaits {table['awaits']}" if "awaits" in table else ""
    commands = {"source": "transcribed", "result": f"python build.py analyze {name}", "measurement": awaited}
    facts = manifest(job.root, file)
    versions = facts.get("versions", {})
    rows, content_hash = recorded_content(job.root, name, file)
    return {
        "artifact": name,
        "kind": kind,
        "file": file.removeprefix("artifacts/"),
        "rows": rows,
        "origin": "; ".join(_origin_in_words(origin) for origin in origins) or str(table.get("title", "computed")),
        "command": facts.get("command", commands.get(kind, "")),
        "versions": "; ".join(f"{library} {version}" for library, version in sorted(versions.items())),
        "hash": content_hash[:12],
    }


def _origin_in_words(origin: object) -> str:
    if isinstance(origin, dict):
        return ", ".join(str(part) for part in origin.values() if part)
    return str(origin)
