"""Bibliographies: entries from BibTeX, BibLaTeX and reference managers are correct in PDF and site, or refused."""

import re
import subprocess

import pytest
import yaml

from boundpaper.paper import looks
from boundpaper.paper.bibliography import parse
from boundpaper.paper.site.works import cited_works
from boundpaper.paper.tex import pdf
from conftest import ROOT, run

CHAPTER = "paper/chapters/introduction.tex.j2"
RIGHT = yaml.safe_load((ROOT / "tests/reported/bibliographies.yaml").read_text(encoding="utf-8"))
# A file, the line of the fault, and words of the error.
REFUSED = [
    ("@article{bean2020, author={Alder, A., Birch, B., Cedar, C., and Date, D.}, title={T}, journal={G}, year={2020}}",
     1, "bean2020: author name 1, 'Alder, A., Birch, B., Cedar, C.', has too many commas; join names with ` and `"),
    ("\n@misc{a,\n title={T},\n author={Alder, A., Birch, B.}}", 4, "has too many commas"),
    ("@misc{a, title={T},\n author={Alder, A., Birch}}", 2, "its middle part would be a suffix such as Jr"),
    ("@misc{a, title={T}, author={Alder, A.; Birch, B.}}", 1, "contains a semicolon; join names with ` and `"),
    ("@misc{a, title={T}, author={Ada Alder & Ben Birch}}", 1, "contains an ampersand; join names with ` and `"),
    ("@misc{a, title={T}, author={Ada Alder and and Ben Birch}}", 1, "name 2 is empty"),
    ("@misc{a, title={T}}\n@misc{A, title={U}}", 2, "the keys a (line 1) and A differ only in case"),
    ("@misc{a, title={T}}\n\n@book{a, title={U}}", 3, "the key a occurs twice, first on line 1"),
    ("@misc{a,\n title={T},\n year=2000,\n title={U}}", 4, "a: title is given twice, with different values"),
    ("@misc{a, title={T}, year=2000\n note={no comma}}", 2, "a comma between two fields is missing"),
    ("@misc{a, title={never closed\n@misc{b, title={T}}\n", 1, "the entry that begins here does not end"),
    ("@misc{a, title={T}, journal = natur}", 1, "no @string defines 'natur'"),
    ("@misc{a, title={T}, month = March, year = 2000}", 1, "no @string defines 'March'; did you mean"),
    ("@misc{a, titel={T}, year=2000}", 1, "unknown field 'titel'; did you mean 'title'?"),
    ("@artcle{a, title={T}, year=2000}", 1, "unknown kind of entry @artcle; did you mean 'article'?"),
    ("@misc{a, title={T},\n crossref={gone}}\n@misc{gine, title={G}}", 2,
     "but no entry has this key; did you mean 'gine'?"),
    ("@misc{a, title={T}, crossref={b}}\n@misc{b, title={U}, crossref={a}}", 1, "cannot inherit from itself"),
    ("@online{a, title={T},\n date={soon 2024}}", 2, "is not a date; write it as 2024, 2024-03"),
    ("@misc{a, title={T}, month=13, year=2024}", 1, "month = {13} is not a month"),
    ("@misc{a, title={A \\foo thing}}", 1, "uses \\foo, a command that the PDF or the site does not support"),
    ("@misc{a, title={From $5 to $10}}", 1, "write \\$ for a dollar sign"),
    ("@misc{a, title={Жук}}", 1, "contains 'Ж' (U+0416, CYRILLIC CAPITAL LETTER ZHE)"),
    ("@misc{a, title={T}, url={javascript:alert(1)}}", 1, "is not a web address; it must begin with http://"),
    ("@misc{a, title={T}, url={https://a.org and https://b.org}}", 1, "contains a blank, which is not allowed"),
    ("@misc{a, title={T}, doi={see the page}}", 1, "is not a DOI; write it as in 10.1000/182"),
    ("@misc{a#b, title={T}}", 1, "a key must not contain"),
    ("@set{a, entryset={b,c}}", 1, "@set joins entries, which BibTeX cannot"),
    ("@misc{a, author={Ada Alder}, year=2000}", 1, "has nothing to print; give at least a title"),
    ('@preamble{"\\input{evil}"}', 1, "may only define commands with \\newcommand"),
    ("".join(f"@misc{{k{n}, author={{Elm, E}}, title={{T{n}}}}}\n" for n in range(30)), 27,
     "k26: the 27th work of Elm, n.d., more than there are letters for the year"),
    ("see @ the garden\n@misc{a, title={T}}", 1, "an @ begins an entry"),
]  # fmt: skip


def flat(text):
    """Return text with single spaces between words, and with the quotes and signs of the other format."""
    for sign, plain in (
        ("\u00a0", " "),
        ("\u2009", " "),
        ("’", "'"),
        ("\u2206", "∆"),
        ("Δ", "∆"),
        ("”", '"'),
        ("“", '"'),
    ):
        text = text.replace(sign, plain)
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def set_twice(tmp_path_factory):
    """Return the output of all valid entries in one file: words of the PDF, and words of the site by key."""
    root = tmp_path_factory.mktemp("set")
    (root / "paper").mkdir()
    text = "\ufeff" + "\n\n".join(case["entry"] for case in RIGHT.values())
    (root / "paper/references.bib").write_text(text)
    held = parse(text)
    assert held.faults == ()
    (root / "references.bib").write_text(held.text)
    preamble = looks.preamble(ROOT)
    cited = "".join(f"\\citet{{{key}}}.\n\n" for key in held.lines)
    (root / "all.tex").write_text(
        "\\documentclass{scrreprt}\n"
        + preamble
        + "\\begin{document}\n"
        + cited
        + "\\bibliography{references}\\end{document}"
    )
    for program in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = [] if program == "bibtex" else ["-interaction=nonstopmode"]
        done = subprocess.run([program, *options, "all"], cwd=root, capture_output=True)
    log = (root / "all.log").read_text(errors="replace")
    assert done.returncode == 0, [line for line in log.splitlines() if line.startswith("!")]
    assert not re.search(r"Citation .* undefined", log)
    assert "Missing character" not in log
    return flat(pdf.whole_text((root / "all.pdf").read_bytes())), cited_works(root)


@pytest.mark.latex
@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.reported(outcome="right")
def test_bibliography_entry_reads_the_same_in_pdf_and_site(name, set_twice):
    """Compile one entry each for special characters, grammar, letters, names, addresses, inheritance, BibLaTeX."""
    paper, held = set_twice
    page = flat(held[name].html.striptags().replace("\\Delta", "∆"))
    for words in RIGHT[name]["shown"]:
        words = flat(words)
        assert words in page or name in ("formula",), page
        if name not in ("address", "doi", "wrapped", "2020A&A...1"):  # addresses are broken over lines
            assert words in paper or words.replace(" ", "") in paper.replace(" ", "").replace("-", ""), words
        else:
            assert words.replace(" ", "") in paper.replace(" ", ""), words


@pytest.mark.reported(
    "doi2bib2#99", "BiblioJSON#60", "sphinxcontrib-bibtex#325", "python-bibtexparser#119", outcome="right"
)
@pytest.mark.latex
def test_reported_bibliography_files_are_complete_in_pdf_and_site(tmp_path):
    """Compile a bare percent sign in a title, an entry that inherits by crossref, and a leading byte order mark."""
    root = tmp_path / "paper"
    assert run(ROOT, "new", str(root)).returncode == 0
    entries = "\n".join(RIGHT[name]["entry"] for name in ("percent", "child", "proc", "undated", "unicode"))
    (root / "paper/references.bib").write_text("\ufeff" + entries + "\n", newline="\r\n")
    chapter = root / CHAPTER
    chapter.write_text(chapter.read_text() + "\n\\citep{percent,child,proc,undated,unicode}\n")
    done = run(root, "paper")
    assert done.returncode == 0, done.stderr
    text = flat(pdf.whole_text((root / "out/thesis.pdf").read_bytes()))
    for words in (
        "Growth of 50% of beans. G, 2020",
        "In B. Birch, editor, Proc. of Beans, 2020",
        "A page of nobody, n.d.",
    ):
        assert words in text
    done = run(root, "site")
    assert done.returncode == 0, done.stderr
    page = flat((root / "out/site/bibliography.html").read_text())
    assert "Growth of 50% of beans" in page
    assert "Proc. of Beans" in page
    assert '<a href="chapter/introduction.html">' in page
    done = run(root, "check")
    assert done.returncode == 0, done.stderr
    assert re.search(r"note: paper/references\.bib:\d+: proc", done.stderr) is None
    places = root / "artifacts/sources/places.csv"
    places.write_text(places.read_text().rstrip("\n") + "\nbeans T1,thesis,Heights,Table 1,persent\n")
    done = run(root, "check")
    assert done.returncode == 1
    assert "places.csv: row 2, citation: names 'persent', which is not in paper/references.bib" in done.stderr
    assert "did you mean 'percent'?" in done.stderr
    (root / "paper/references.bib").write_text(REFUSED[0][0] + entries)
    for command in ("paper", "site", "check"):
        done = run(root, command)
        assert done.returncode == 1
        assert "paper/references.bib:1: bean2020: author name 1" in done.stderr


@pytest.mark.parametrize(("line", "text", "words"), [(line, text, words) for text, line, words in REFUSED[1:]])
@pytest.mark.reported(outcome="refused")
def test_invalid_bibliography_entries_are_reported_with_their_line(line, text, words):
    """Read faulty grammar, names, keys, dates, commands and addresses; errors name file, line, key and remedy."""
    told = [str(fault) for fault in parse(text).faults]
    assert any(each.startswith(f"paper/references.bib:{line}: ") and words in each for each in told), told
    assert all("\n" not in each and len(each) < 330 for each in told)


@pytest.mark.reported("better-bibtex#3109", "accelerate#2119", "thuthesis#115", outcome="refused")
def test_author_names_separated_by_commas_are_reported():
    """Read four authors joined by commas, which BibTeX reads as one author with too many commas."""
    [fault] = parse(REFUSED[0][0]).faults
    assert REFUSED[0][2] in str(fault)


HOSTILE = [
    'url = {https://e.com/"><script>alert(1)</script>}', "url = {JavaScript:alert(1)}",
    "url = {data:text/html,<script>alert(1)</script>}", "url = {//evil.example/x}",
    'doi = {10.1/"><img src=x onerror=alert(1)>}',
    'eprint = {1"><img src=x onerror=alert(1)>}, archiveprefix = {<script>x</script>}',
    "note = {\\href{javascript:alert(1)}{click} <b>bold</b>}", "howpublished = {\\url{javascript:alert(1)}}",
    'author = {{<script>alert(1)</script>} and "Onload, Eve"}', "title = {$<script>alert(1)</script>$ and <img src=x>}",
    'key = {"><script>x</script>}, year = {<i>2020</i>}',
]  # fmt: skip


@pytest.mark.latex
@pytest.mark.parametrize("payload", HOSTILE)
@pytest.mark.reported(outcome="right")
def test_script_in_a_bibliography_field_is_escaped_or_refused(payload, tmp_path):
    """Put scripts and foreign URL schemes into every field printed as HTML: shown as text, or refused."""
    import html5lib

    (tmp_path / "paper").mkdir()
    title = "" if "title" in payload else "title = {T}, "
    text = f"@misc{{a, {title}{payload}}}"
    (tmp_path / "paper/references.bib").write_text(text)
    if parse(text).faults:
        assert re.search("not a web address|which is not allowed|has no host|not a DOI", str(parse(text).faults[0]))
        return
    shown = cited_works(tmp_path)["a"].html
    tree = html5lib.parse(str(shown), namespaceHTMLElements=False)
    assert not list(tree.iter("script"))
    assert not list(tree.iter("img"))
    assert not list(tree.iter("b"))
    for link in tree.iter("a"):
        assert link.get("href").startswith(("https://", "http://"))
        assert set(link.attrib) == {"href"}
