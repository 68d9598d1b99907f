"""Files for others: the PDF, its links, the source bundle and the crate; another clone makes the same PDF."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter

import pypdf
import pytest
import yaml
from rocrate.rocrate import ROCrate

import two_clicks
from boundpaper.errors import SpecError
from boundpaper.paper import bundle, crate, document
from boundpaper.paper.tex import pdf
from specimens import SOURCE, run

ADDRESS = "https://example.org/recall"
CHAPTER = "paper/chapters/recall.tex.j2"
LEDGER = """\\chapter{Ledger}\\label{ch:ledger}

<< table('ledger') >>
"""
TABLE = '''"""The ledger."""

import pandas as pd

from boundpaper.tables import Column, Table


def table(claims: pd.DataFrame) -> Table:
    """One row per claim."""
    rows = claims.assign(entry="claim:" + claims["claim"].astype(str))
    columns = [Column("statement", "Statement", width=0.6), Column("verdict", "Verdict")]
    return Table(rows=rows, columns=columns, entry="entry", caption="Every claim. Unit: one claim.")
'''


def git(root, *arguments, **times):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    environment = {**os.environ, **{f"GIT_{who}_DATE": time for who, time in times.items()}}
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, env=environment)


@pytest.fixture(scope="module")
def built(analysed, tmp_path_factory):
    """Return the sample paper with its printed ledger, committed and built."""
    root = shutil.copytree(analysed, tmp_path_factory.mktemp("handed") / "paper")
    (root / "tables/ledger.py").write_text(TABLE)
    (root / "paper/chapters/ledger.tex.j2").write_text(LEDGER)
    metadata = yaml.safe_load((root / "paper/metadata.yaml").read_text())
    metadata["chapters"] = ["recall", "ledger"]
    (root / "paper/metadata.yaml").write_text(yaml.safe_dump(metadata))
    shutil.copy(SOURCE.parent / "LICENSE", root)
    (root / "CITATION.cff").write_text(
        (root / "CITATION.cff").read_text().replace("Nobody yet", "The bean counters") + "license: MIT\n"
    )
    assert run(root, "analyze").returncode == 0
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "All", AUTHOR="2026-03-04T05:06:07Z", COMMITTER="2026-03-04T05:06:07Z")
    result = run(root, "paper")
    assert result.returncode == 0, result.stderr
    return root


def link_counts(root):
    """Check that no link of the PDF has a box; return the number of links to each destination and address."""
    reader = pypdf.PdfReader(root / "out/thesis.pdf")
    destinations, counts = reader.named_destinations, Counter[str]()
    for page in reader.pages:
        for annotation in page.get("/Annots") or []:
            annotation = annotation.get_object()
            action = annotation["/A"].get_object()
            assert annotation["/Border"][2] == 0
            target = str(action.get("/D") or action.get("/URI"))
            assert "/URI" in action or target in destinations, target
            counts[target] += 1
    return counts


def pdf_lines(root):
    """Return the text lines of the PDF."""
    text = subprocess.check_output(["pdftotext", "-layout", "out/thesis.pdf", "-"], cwd=root, text=True)
    return [line for line in map(str.strip, text.splitlines()) if line]


@pytest.mark.latex
def test_verdict_in_the_pdf_links_to_its_ledger_row(built):
    counts = link_counts(built)
    assert counts["entry:claim:recall_mean_large"] == 1
    assert not [target for target in counts if target.startswith("https:")]


@pytest.mark.latex
def test_pdf_with_site_address_links_to_the_site_with_the_same_line_breaks(built, tmp_path):
    root = tmp_path / "sited"
    shutil.copytree(built, root)
    result = run(root, "paper", "--site", f"{ADDRESS}/")
    assert result.returncode == 0, result.stderr
    counts = link_counts(root)
    assert counts[f"{ADDRESS}/ledger.html#recall_mean_large"] == 2  # in the text, and at the printed row
    assert counts[f"{ADDRESS}/artifact/recall_drop.html"] == 1
    assert {f"{ADDRESS}/table/recall_loss.html", f"{ADDRESS}/figure/recall_curves.html"} <= counts.keys()
    assert [line for line in pdf_lines(root) if line != ADDRESS] == pdf_lines(built)  # the title page names the site
    plain = "\\makeatletter\n\\renewcommand*{\\press@link}[4]{#4}\n\\makeatother\n"
    (root / "paper/preamble.tex").write_text(plain)
    assert run(root, "paper").returncode == 0
    assert not [target for target in link_counts(root) if target.startswith(("https:", "entry:"))]
    assert pdf_lines(root) == pdf_lines(built)
    refusal = run(root, "paper", "--site", "somewhere {else}")
    assert (refusal.returncode, "--site: 'somewhere {else}' is not the address" in refusal.stderr) == (2, True)


@pytest.mark.latex
def test_another_clone_gives_the_same_bytes(built, tmp_path):
    """Build with another folder, time, locale, zone and hash seed; the PDF names the commit of its artifacts."""
    clone = tmp_path / "some where" / "else"
    clone.parent.mkdir()
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", built, clone], check=True)
    (clone / "paper/notes.txt").write_text("a commit that changes no artifact\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "Notes")
    odd = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "77", "SOURCE_DATE_EPOCH": "1"}
    result = run(clone, "paper", env=os.environ | odd)
    assert result.returncode == 0, result.stderr
    assert (clone / "out/thesis.pdf").read_bytes() == (built / "out/thesis.pdf").read_bytes()
    subject = pypdf.PdfReader(clone / "out/thesis.pdf").metadata["/Subject"]
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=built, capture_output=True, text=True, check=True).stdout
    assert subject == f"Artifacts of commit {head[:12]} of 2026-03-04"
    source = clone / "artifacts/sources/recall_by_length.csv"
    source.write_text(source.read_text().replace("reader-l,2048,88.0", "reader-l,2048,88.1"))
    assert run(clone, "paper").returncode == 0
    metadata = pypdf.PdfReader(clone / "out/thesis.pdf").metadata
    assert metadata is not None
    assert str(metadata["/Subject"]).endswith("of 2026-03-04, with changes")


@pytest.mark.latex
def test_bundle_is_flat_and_holds_the_sources(built, tmp_path):
    result = run(built, "bundle")
    assert result.stdout.splitlines() == ["out/thesis.pdf", "out/bundle/thesis-arxiv.tar.gz"], result.stderr
    with tarfile.open(built / "out/bundle/thesis-arxiv.tar.gz") as archive:
        names = archive.getnames()
        member = archive.extractfile("thesis.tex")
        assert member is not None
        text = member.read().decode()
    assert names == ["figures-recall_curves.pdf", "thesis.bbl", "thesis.tex"]
    assert r"\input{" not in text
    assert str(built) not in text
    result = run(built, "bundle", "--overleaf")
    packed = built / result.stdout.splitlines()[-1]
    assert packed.name == "thesis-overleaf.zip", result.stderr
    with zipfile.ZipFile(packed) as archive:
        assert {"chapters/recall.tex", "tables/recall_loss.tex", "references.bib"} <= set(archive.namelist())
        assert {info.date_time for info in archive.infolist()} == {(2026, 11, 1, 0, 0, 0)}
        archive.extractall(tmp_path / "editor")
    for _ in range(2):  # as an editor would: no format, none of our settings
        compilation = subprocess.run(
            ["pdflatex", "-interaction=batchmode", "thesis.tex"], cwd=tmp_path / "editor", capture_output=True
        )
        assert compilation.returncode == 0
    assert pdf.page_count((tmp_path / "editor/thesis.pdf").read_bytes()) == pdf.page_count(
        (built / "out/thesis.pdf").read_bytes()
    )
    assert packed.read_bytes() == bundle.make(built / "out", flat=False)


@pytest.mark.latex
def test_a_bundle_needs_no_package_beyond_the_light_ones(built):
    code = (
        "import sys; sys.modules['pypdf'] = None; "
        "from boundpaper.paper.bundle import make, try_out; from pathlib import Path; "
        "try_out(make(Path('out')), Path('out/thesis.pdf').read_bytes())"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=built, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.latex
def test_crate_describes_every_file_and_links_verdicts_to_function_and_data(built, tmp_path):
    project = tmp_path / "published"
    shutil.copytree(built, project)
    result = run(project, "publish")
    assert result.returncode == 0, result.stderr
    folder = project / "out/crate"
    linked_rows = two_clicks.rows_linked(folder / "thesis.pdf", "site")
    with (project / "artifacts/results/claims.csv").open(newline="") as stream:
        assert linked_rows == {row["claim"] for row in csv.DictReader(stream)}
    assert two_clicks.faults(linked_rows, folder / "site") == []
    assert two_clicks.faults({"recall_gone"}, folder / "site") == ["recall_gone: no such row"]
    assert not re.search(r"^site$", "\n".join(pdf_lines(project)), re.MULTILINE)  # a folder cannot be printed
    graph_of_crate = json.loads((folder / "ro-crate-metadata.json").read_text())
    entities = {entity["@id"]: entity for entity in graph_of_crate["@graph"]}
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"]["@id"].startswith("https://w3id.org/ro/crate/1.")
    assert {"name", "description", "datePublished", "license", "creator"} <= root.keys()
    assert root["datePublished"] == "2026-03-04"
    assert entities[root["license"]["@id"]]["name"] == "MIT"
    parts = {part["@id"] for part in root["hasPart"]}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files - parts == {"ro-crate-metadata.json", "checksums-sha256.txt"}
    assert {"thesis.pdf", "artifacts/results/claims.csv", "artifacts/datapackage.json", "LICENSE"} <= parts
    for name in parts:
        content = (folder / name).read_bytes()
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert entities[name]["contentSize"] == str(len(content))
    sums = subprocess.run(["sha256sum", "-c", "--quiet", "checksums-sha256.txt"], cwd=folder, capture_output=True)
    assert (sums.returncode, sums.stdout) == (0, b"")
    assert len(list(ROCrate(folder).data_entities)) == len(parts)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(project, "publish").returncode == 0
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.latex
def test_all_faults_are_reported_and_the_last_good_pdf_is_kept(built, tmp_path):
    root = tmp_path / "faulty"
    shutil.copytree(built, root)
    chapter = root / CHAPTER
    lines = chapter.read_text().splitlines()
    lines[4:4] = ["", r"A word \mispelt{} here.", "", r"A name_with a bar.", ""]
    chapter.write_text("\n".join(lines) + "\n")
    good = (root / "out/thesis.pdf").read_bytes()
    result = run(root, "paper", "--keep-going")
    assert (result.returncode, result.stdout) == (1, "out/thesis-draft.pdf\n")
    assert f"(from {CHAPTER}:6): Undefined control sequence" in result.stderr
    assert "a command is misspelt" in result.stderr
    assert f"(from {CHAPTER}:8): Missing $ inserted" in result.stderr
    assert (root / "out/thesis.pdf").read_bytes() == good
    assert (root / "out/thesis-draft.pdf").stat().st_size > 20_000


@pytest.mark.latex
def test_the_pdf_names_its_author(built, tmp_path):
    """The author comes from the metadata or, if the metadata name no author, from CITATION.cff."""
    assert yaml.safe_load((built / "paper/metadata.yaml").read_text())["author"] == "Nobody"
    assert pypdf.PdfReader(built / "out/thesis.pdf").metadata["/Author"] == "Nobody"
    (tmp_path / "CITATION.cff").write_text(
        "authors: [{family-names: Alder, given-names: Ada}, {name: Beans & Co}, {family-names: Yew}]\n"
    )
    assert crate.cited_authors(tmp_path) == "Ada Alder, Beans & Co, Yew"
    (tmp_path / "CITATION.cff").write_text("authors: Ada\n")
    with pytest.raises(SpecError, match="'Ada' is not a list"):
        crate.cited_authors(tmp_path)


def test_bundle_with_a_local_folder_name_is_refused(tmp_path):
    state = tmp_path / "out" / document.STATE
    state.mkdir(parents=True)
    (state / "thesis.fls").write_text("INPUT ./thesis.tex\n")
    (state / "thesis.bbl").write_text("")
    (tmp_path / "out/thesis.tex").write_text(f"see {tmp_path}/x\n")
    with pytest.raises(SpecError, match=r"thesis\.tex: contains the local path"):
        bundle.make(tmp_path / "out")
    (tmp_path / "out/thesis.tex").write_text("fine\n")
    with tarfile.open(fileobj=io.BytesIO(bundle.make(tmp_path / "out"))) as archive:
        assert archive.getnames() == ["thesis.bbl", "thesis.tex"]
