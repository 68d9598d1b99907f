"""The site of a sample paper: complete, valid, safe, and equal wherever it is built."""

import csv
import json
import os
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest

import site_made as made
from boundpaper.typeset import addresses
from specimens import new, run

pytestmark = pytest.mark.latex


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = made.made(tmp_path_factory.mktemp("site") / "paper")
    return root, made.site(root)


@pytest.fixture(scope="module")
def trees(built):
    _, site = built
    return {page: made.parsed(page) for page in sorted(site.rglob("*.html"))}


def row_of(trees, site, claim):
    rows = [element for element in made.elements(trees[site / "ledger.html"], "details") if element.get("id") == claim]
    assert len(rows) == 1, claim
    return rows[0]


def test_every_page_is_valid_html_with_unique_ids(trees):
    assert len(trees) > 30
    for page, tree in trees.items():  # the parser would have raised on invalid HTML
        ids = made.ids(tree)
        assert len(ids) == len(set(ids)), page
        assert tree.get("lang") == "en", page
        assert len(made.elements(tree, "h1")) == 1, page
        assert all(image.get("alt") is not None for image in made.elements(tree, "img")), page
        assert [label for label in made.elements(tree, "label") if not made.words(label)] == [], page


def test_every_link_has_a_target_and_no_page_loads_external_files(trees):
    ids_of_page = {page.resolve(): set(made.ids(tree)) for page, tree in trees.items()}
    checked = 0
    for page, tree in trees.items():
        for name, address in made.addresses(tree):
            if page.name == "bibliography.html" and name == "href" and address.startswith("https://"):
                continue  # a link to the work's page, which is not loaded
            assert not address.startswith(("http:", "https:", "//")), (page, address)
            if address.startswith("data:"):
                continue
            file, fragment = made.target(page, address)
            assert file.is_file(), (page.name, name, address)
            if fragment and file in ids_of_page and file.name != "graph.html":
                assert fragment in ids_of_page[file], (page.name, address)
            checked += 1
    assert checked > 500


def test_citation_links_to_its_work_and_back(built, trees):
    _, site = built
    works = trees[site / "bibliography.html"]
    [entry] = [row for row in made.elements(works, "tr") if row.get("id") == "nobody2026"]
    text = made.words(entry)
    assert "How often two small readers recall a planted word" in text
    links = [address for _, address in made.addresses(entry)]
    assert "ledger.html?document=recall" in links  # a link to the claims on this document
    for name in ("chapter/recall.html", "figure/recall_curves.html", "table/recall_lengths.html"):
        assert name in links
        cited = [link for link in made.elements(trees[site / name], "a") if "bibliography.html#" in link.get("href")]
        assert {(made.words(link), link.get("href")) for link in cited} == {
            ("Nobody, 2026", "../bibliography.html#nobody2026")
        }
    source = made.words(trees[site / addresses.artifact("recall_by_length")])
    assert "Its rows are printed in Nobody, 2026." in source
    assert addresses.artifact("recall_by_length") in links
    assert "(Nobody, 2026)" in made.words(row_of(trees, site, "recall_half"))


def test_data_are_escaped_in_pages(built, trees):
    _, site = built
    assert "<script>alert" not in "".join(page.read_text() for page in trees)
    for page, tree in trees.items():
        for script in made.elements(tree, "script"):
            assert script.get("src", "").endswith("site.js") or script.get("type") == "application/json", page
    options = [option.text for option in made.elements(trees[site / "ledger.html"], "option")]
    assert f"recall: {made.EVIL}" in options
    cells = [made.words(cell) for cell in made.elements(trees[site / "artifact/documents.html"], "td")]
    assert made.EVIL in cells


def test_no_page_executes_markup_from_a_field(trees):
    for page, tree in trees.items():
        for element in tree.iter():
            if isinstance(element.tag, str):
                assert not [name for name in element.attrib if name.lower().startswith("on")], page
        for _, address in made.addresses(tree):
            assert urlsplit(address).scheme in ("", "http", "https", "data"), (page, address)
    site_text = " ".join(made.words(tree) for tree in trees.values())
    assert site_text.count(made.TAG) > 5


def test_ledger_row_shows_verdict_reason_and_links(built, trees):
    root, site = built
    row = row_of(trees, site, "recall_mean_large")
    assert row.get("data-verdict") == "contradicted"
    assert row.get("data-chapter") == "recall"
    text = made.words(row)
    assert "88.4 → 88.0" in text
    assert "Mean over the seeds of Table 4." in text
    links = [address for _, address in made.addresses(row)]
    assert "chapter/recall.html" in links
    assert "artifact/recall_seeds.html" in links
    with (root / "artifacts/results/claim_places.csv").open(newline="") as stream:
        places = {row["claim"]: row for row in csv.DictReader(stream)}
    file, _, line = places["recall_mean_large"]["function"].partition(":")
    assert addresses.code(file, int(line)) in links
    elements = made.elements(trees[site / addresses.code(file)], "div")
    code = {element.get("id"): made.words(element) for element in elements}
    assert "def recall_mean_large(" in code[f"L{line}"]
    better = made.words(row_of(trees, site, "recall_large_better"))
    assert "Interval" in better
    assert "by itself" in better


def test_exhibit_page_shows_its_table_data_and_dependents(built, trees):
    _, site = built
    page = trees[site / addresses.exhibit("table", "recall_loss")]
    assert "39.5" in [made.words(cell) for cell in made.elements(page, "td")]
    links = [address for _, address in made.addresses(page)]
    assert "../artifact/recall_drop.html" in links  # down
    assert "../chapter/recall.html" in links  # up
    assert "../ledger.html#recall_drop_small" in links  # a claim about the same result
    assert (site / "table/recall_loss.csv").read_text().startswith("name,")
    figure = trees[site / addresses.exhibit("figure", "recall_curves")]
    [image] = made.elements(figure, "img")
    assert image.get("alt").startswith("Line, recall (%) against length (tokens)")
    assert (site / "figure" / image.get("src")).read_text().startswith("<?xml")
    header = [made.words(cell) for cell in made.elements(figure, "th")]
    assert {"x", "y"} <= set(header)
    with (site / "figure/recall_curves.csv").open(newline="") as stream:
        points = {(row["x"], row["y"]) for row in csv.DictReader(stream)}
    assert ("512", "92.0") in points


def test_graph_page_links_both_directions(built, trees):
    _, site = built
    page = trees[site / addresses.artifact("recall_drop")]
    sections = {section.get("aria-labelledby"): section for section in made.elements(page, "section")}
    below = [address for _, address in made.addresses(sections["below-title"])]
    above = [address for _, address in made.addresses(sections["above-title"])]
    assert "../artifact/recall_by_length.html" in below
    assert {"../table/recall_loss.html", "../ledger.html#recall_falls", "../chapter/recall.html"} <= set(above)
    source = trees[site / addresses.artifact("recall_by_length")]
    assert "../artifact/recall_drop.html" in [address for _, address in made.addresses(source)]
    graph = trees[site / "graph.html"]
    [script] = [element for element in made.elements(graph, "script") if element.get("type") == "application/json"]
    edges = json.loads(script.text)
    assert "result:recall_drop" in edges["table:recall_loss"]
    assert "table:recall_loss" in edges["chapter:recall"]
    assert "claim:recall_mean_large" in edges["chapter:recall"]
    nodes = {item.get("data-key") for item in made.elements(graph, "li")}
    assert nodes == set(edges)


def test_overview_counts_equal_the_rows_their_links_select(built, trees):
    _, site = built
    rows = made.elements(trees[site / "ledger.html"], "details")
    for name, address in made.addresses(trees[site / "index.html"]):
        if not address.startswith("ledger.html?"):
            continue
        filters = dict(part.split("=") for part in address.partition("?")[2].replace("%20", " ").split("&"))
        fitting = [row for row in rows if all(row.get(f"data-{key}") == value for key, value in filters.items())]
        [link] = [element for element in made.elements(trees[site / "index.html"], "a") if element.get(name) == address]
        assert int(made.words(link)) == len(fitting) > 0


def test_site_is_identical_across_folder_time_zone_and_language(built, tmp_path):
    root, site = built
    other = tmp_path / "elsewhere" / "with space"
    shutil.copytree(root, other, ignore=shutil.ignore_patterns("out"))
    env = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "77"}
    other_site = made.site(other, env=env)
    files = {path.relative_to(site): path for path in site.rglob("*") if path.is_file()}
    assert {path.relative_to(other_site) for path in other_site.rglob("*") if path.is_file()} == set(files)
    differing = [name for name, path in files.items() if path.read_bytes() != (other_site / name).read_bytes()]
    assert differing == []
    assert "0 changed" in run(other, "site").stdout  # back in the usual environment


def test_removed_artifact_loses_its_page_and_history_is_shown(built, tmp_path):
    root, site = built
    assert "not a git checkout, so there is no history" in made.words(made.parsed(site / "artifact/recall_drop.html"))
    other = tmp_path / "versioned"
    shutil.copytree(root, other)
    assert (other / "out/site/table/recall_loss.html").is_file()

    def git(*arguments):
        name = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid")
        subprocess.run(["git", *name, *arguments], cwd=other, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "The document as it stands")
    table = other / "artifacts/sources/recall_by_length.csv"
    table.write_text(table.read_text().replace("reader-s,512,92.0", "reader-s,512,94.0"))
    (other / "tables/recall/recall_loss.py").unlink()
    chapter = other / "paper/chapters/recall.tex.j2"
    chapter.write_text(chapter.read_text().replace("<< table('recall_loss') >>", "").replace("tab:recall_loss,", ""))
    assert run(other, "analyze").returncode == 0
    git("commit", "-qam", "A misprint <b>mended</b>")
    site_after = made.site(other)
    assert not (site_after / "table/recall_loss.html").exists()
    rows = [made.words(row) for row in made.elements(made.parsed(site_after / "artifact/recall_drop.html"), "tr")]
    mended, unmended = [row for row in rows if "mended" in row or "as it stands" in row]
    assert "A misprint <b>mended</b>" in mended
    assert "3 cells, the largest change reader-s, most_gained: -7.5 -> -9.5" in mended
    assert unmended.endswith("began")


def test_faulty_table_that_no_chapter_shows_is_named(built, tmp_path):
    root = shutil.copytree(built[0], tmp_path / "paper")
    table = (root / "tables/recall/recall_loss.py").read_text()
    (root / "tables/faulty.py").write_text(table.replace("return Table(", "return dict("))
    result = run(root, "site")
    assert result.returncode == 1
    assert "tables/faulty.py: table() returned dict, not a Table" in result.stderr


def test_empty_paper_has_a_site_without_a_ledger(tmp_path):
    root = tmp_path / "frame"
    assert new(root, "--title", "Words: kept & lost").returncode == 0
    site = made.site(root)
    assert made.words(made.elements(made.parsed(site / "index.html"), "h1")[0]) == "Words: kept & lost"
    assert "No statement is judged yet." in made.words(made.parsed(site / "ledger.html"))
    for page in site.rglob("*.html"):
        for _, address in made.addresses(made.parsed(page)):
            assert address.startswith("data:") or made.target(page, address)[0].is_file(), (page, address)
