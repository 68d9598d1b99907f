"""Check the whole published data package with frictionless, the reader of the standard."""

import json
import tempfile
from pathlib import Path

from boundpaper.paper import crate
from boundpaper.store.files import write


def run(root: Path) -> list[str]:
    """Return the faults that frictionless finds in a project's published data package."""
    import frictionless

    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    for path in crate.data_package_files(root):
        write(folder / path.name, path.content)
    report = frictionless.validate(str(folder / crate.PACKAGE))
    count = len(json.loads((folder / crate.PACKAGE).read_text(encoding="utf-8"))["resources"])
    faults = [f"{name}: row {row}: {note}" for name, row, note in report.flatten(["name", "rowNumber", "note"])]
    if len(report.tasks) != count:
        faults.append(f"{len(report.tasks)} of {count} resources were read")
    return faults
