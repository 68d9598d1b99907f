"""The RO-Crate: it has the store's metadata, passes the standard's validator, and names the paper's authors."""

import json
import os
import subprocess

import frictionless
import pytest

from boundpaper.errors import SpecError
from boundpaper.paper import crate
from boundpaper.store.manifest import sealed_text
from boundpaper.store.measurement import put

PACKAGE = """
name: beans
title: Beans
resources:
- name: lamps
  origin: []
  title: Lamps
  description: Lamps
  fields: [{lamp*: Lamp}, {height: Height, type: integer}, reason~]
- name: sinks
  kind: measurement
  title: Sinks
  description: Sinks
  fields: [{unit*: Unit, type: integer}, {value: Value, type: number}, {layer: Layer, type: integer},
    {kept: Kept, type: boolean}, reason~]
columns: {reason: {description: Why a cell is empty}}
"""
METADATA = """
title: Beans
date: "2026"
licence: CC-BY-4.0
identifier: 10.5281/zenodo.1
publisher: Garden
author:
- {name: Ada Alder, orcid: 0000-0002-1825-0097, affiliation: Garden, ror: "https://ror.org/02mhbdp94",
  email: a@garden.org}
- Bo
"""
CITATION = """
cff-version: 1.2.0
message: Cite.
title: Beans
license: CC0-1.0
authors: [{given-names: Ada, family-names: Alder}]
"""


@pytest.fixture
def root(tmp_path):
    """Return a project with a small table, a large measurement with missing cells, and a placeholder for the thesis."""
    project = tmp_path / "project"
    for folder in ("artifacts/sources", "paper/chapters", "out/site"):
        (project / folder).mkdir(parents=True)
    (project / "artifacts/datapackage.yaml").write_text(PACKAGE)
    (project / "artifacts/sources/lamps.csv").write_text("lamp,height,reason\nsun,18,\nneon,,dead\n")
    cells = [f"{n},{n / 7:.6g},{n % 5},True," if n % 3 else f"{n},,,,not measured" for n in range(300)]
    table = put(project, "sinks", "m", "\n".join(["unit,value,layer,kept,reason", *cells]) + "\n")
    assert table.suffix == ".parquet"
    table.with_suffix(".json").write_bytes(sealed_text({"command": "x", "versions": {}}, table))
    (project / "paper/metadata.yaml").write_text(METADATA)
    (project / "LICENSE").write_text("CC BY 4.0\n")
    (project / "out/thesis.pdf").write_bytes(b"%PDF-1.5\n")
    (project / "out/site/index.html").write_text("<p>Beans</p>\n")
    return project


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "is missing"), ("", "is empty"), (" \n\t\n", "is empty"), ("folder", "cannot be read")],
)
def test_crate_without_licence_is_refused_with_the_command_that_mends_it(root, tmp_path, content, fault):
    (root / "LICENSE").unlink()
    if content == "folder":
        (root / "LICENSE").mkdir()
    elif content is not None:
        (root / "LICENSE").write_text(content)
    with pytest.raises(SpecError, match=f"LICENSE: {fault}.*; write how") as caught:
        crate.lay_out(root, tmp_path / "crate")
    if fault != "cannot be read":
        command = str(caught.value).splitlines()[1]
        subprocess.run(command, shell=True, cwd=root, check=True)
        crate.lay_out(root, tmp_path / "crate")


def entities(folder):
    """Return the crate's entities by identifier."""
    graph = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]
    return {entity["@id"]: entity for entity in graph}


def test_data_package_of_the_crate_is_valid_with_hashes_and_sizes(root, tmp_path):
    crate.lay_out(root, tmp_path / "crate")
    package = json.loads((tmp_path / "crate/artifacts/datapackage.json").read_text())
    assert {entry["name"]: entry["path"] for entry in package["resources"]} == {
        "lamps": "sources/lamps.csv",
        "sinks-m": "measurements/sinks/m.csv",
    }
    report = frictionless.validate(str(tmp_path / "crate/artifacts/datapackage.json"))
    assert report.flatten(["name", "rowNumber", "note"]) == []
    (tmp_path / "crate/artifacts/sources/lamps.csv").write_text("lamp,height,reason\nsun,18,\nneon,1,dead\n")
    assert not frictionless.validate(str(tmp_path / "crate/artifacts/datapackage.json")).valid


def test_crate_holds_only_stored_files_and_lists_those_left_out(root, tmp_path):
    strays = (
        "artifacts/measurements/sinks/m.json~", "artifacts/measurements/sinks/notes.txt",
        "artifacts/measurements/sinks/other.json", "artifacts/measurements/unknown/x.csv",
        "artifacts/sources/secret.csv",
    )  # fmt: skip
    for stray in strays:
        (root / stray).parent.mkdir(exist_ok=True)
        (root / stray).write_text("TOKEN=x\n")
    crate.lay_out(root, tmp_path / "crate")
    files = {
        path.relative_to(tmp_path / "crate").as_posix() for path in (tmp_path / "crate").rglob("*") if path.is_file()
    }
    assert not files & set(strays)
    assert {"artifacts/measurements/sinks/m.csv", "artifacts/measurements/sinks/m.json", "site/index.html"} <= files
    assert crate.files_left_out(root) == sorted(strays)


@pytest.mark.parametrize(
    "path", ["artifacts/sources/lamps.csv", "artifacts/measurements/sinks/m.json", "LICENSE", "out/site/more.html"]
)
def test_crate_refuses_a_link_in_place_of_a_file(root, tmp_path, path):
    (tmp_path / "elsewhere").write_text("lamp,height,reason\nsun,18,\n")
    (root / path).unlink(missing_ok=True)
    os.symlink(tmp_path / "elsewhere", root / path)
    with pytest.raises(SpecError, match=f"{path}: is a link, or inside a linked folder"):
        list(crate.crate_files(root))


def test_creator_licence_publisher_and_identifier_are_the_paper_s(root, tmp_path):
    crate.lay_out(root, tmp_path / "crate")
    by_id = entities(tmp_path / "crate")
    crate_itself = by_id["./"]
    assert [by_id[creator["@id"]]["name"] for creator in crate_itself["creator"]] == ["Ada Alder", "Bo"]
    assert crate_itself["creator"][0]["@id"] == "https://orcid.org/0000-0002-1825-0097"
    assert by_id["https://orcid.org/0000-0002-1825-0097"]["affiliation"] == {"@id": "https://ror.org/02mhbdp94"}
    assert by_id[crate_itself["license"]["@id"]]["name"] == "CC-BY-4.0"
    assert crate_itself["license"]["@id"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert by_id[crate_itself["publisher"]["@id"]]["name"] == "Garden"
    assert crate_itself["publisher"]["@id"] == "https://ror.org/02mhbdp94", "the author's organisation is listed once"
    assert len([entity for entity in by_id.values() if entity["@type"] == "Organization"]) == 1
    contact = by_id[by_id[crate_itself["creator"][0]["@id"]]["contactPoint"]["@id"]]
    assert (contact["@type"], contact["email"]) == ("ContactPoint", "a@garden.org")
    assert all(entity.get("name") for entity in by_id.values() if entity["@id"] != "ro-crate-metadata.json")
    identifier = by_id[crate_itself["identifier"]["@id"]]
    assert (identifier["@type"], identifier["url"]) == ("PropertyValue", "https://doi.org/10.5281/zenodo.1")


def test_crate_without_an_author_is_refused_unless_the_citation_file_names_one(root, tmp_path):
    (root / "paper/metadata.yaml").write_text("title: Beans\ndate: '2026'\nauthor: Nobody yet\n")
    with pytest.raises(SpecError, match="`author` names nobody"):
        crate.lay_out(root, tmp_path / "crate")
    (root / "paper/metadata.yaml").write_text("title: Beans\ndate: '2026'\n")
    (root / "CITATION.cff").write_text(CITATION)
    crate.lay_out(root, tmp_path / "crate")
    by_id = entities(tmp_path / "crate")
    creator = by_id[by_id["./"]["creator"]["@id"]]
    assert (creator["name"], creator["@type"]) == ("Ada Alder", "Person")
    assert by_id["./"]["license"]["@id"] == "https://spdx.org/licenses/CC0-1.0"
