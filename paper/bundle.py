"""The arXiv bundle: what pdflatex read of ours, with the `.bbl`, in an archive that is the same every time."""

import gzip
import io
import re
import tarfile
from pathlib import Path

from artifacts.errors import LatexError, SpecError
from paper import latex, log
from paper.document import STATE

MAX_PASSES = 5


def contents(out: Path) -> list[str]:
    """Files of the bundle, relative to the output folder, sorted; `thesis.bbl` comes from the compiler's folder.

    The list is LaTeX's own record of what it read, so nothing is forgotten and nothing unused is sent.

    Raises
    ------
    SpecError
        The thesis has not been compiled.
    """
    record = out / STATE / "thesis.fls"
    if not record.is_file() or not (out / STATE / "thesis.bbl").is_file():
        raise SpecError("the thesis has not been compiled yet: run `python build.py paper` first")
    read = re.findall(r"(?m)^INPUT (.*)$", record.read_text(encoding="utf-8"))
    names = {name.removeprefix("./") for name in read if not Path(name).is_absolute()}
    return sorted(name for name in names if not name.startswith("state/") and (out / name).is_file())


def make(out: Path) -> bytes:
    """Pack the bundle as `.tar.gz`: sorted, with fixed times, owners and modes.

    Parameters
    ----------
    out : Path
        The output folder, with a compiled thesis.
    """
    members = {name: (out / name).read_bytes() for name in contents(out)}
    members["thesis.bbl"] = (out / STATE / "thesis.bbl").read_bytes()
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=int(latex.EPOCH)) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, content in sorted(members.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), int(latex.EPOCH), 0o644
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def dry_run(bundle: bytes, folder: Path) -> bytes:
    """Compile a bundle in an empty folder, as arXiv does: pdflatex alone, no bibtex.

    Parameters
    ----------
    bundle : bytes
        What `make` returned.
    folder : Path
        An empty folder.

    Returns
    -------
    bytes
        The PDF, equal to the thesis's own.

    Raises
    ------
    LatexError
        It does not compile, or something is undefined.
    """
    if any(folder.iterdir()):
        raise SpecError(f"{folder}: not empty; the dry run must see nothing but the bundle")
    with tarfile.open(fileobj=io.BytesIO(bundle), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")
    for _ in range(MAX_PASSES):
        done = latex.pdflatex("thesis.tex", cwd=folder, output=".", job="thesis", timeout=latex.PASS_TIMEOUT)
        text = (folder / "thesis.log").read_text(encoding="utf-8", errors="replace") if not done.timed_out else ""
        found = log.parse(text, folder)
        if done.returncode or found.errors:
            raise log.failure(found, "thesis.tex", done.output)
        if not found.rerun and not any(finding.kind.startswith("undefined") for finding in found.warnings):
            return (folder / "thesis.pdf").read_bytes()
    faults = "\n".join(map(str, found.warnings)) or "LaTeX still asks for another pass"
    raise LatexError(f"the bundle does not settle in {MAX_PASSES} passes:\n{faults}", "thesis.tex")
