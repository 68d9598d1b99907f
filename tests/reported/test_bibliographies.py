"""Bibliographies: entries from BibTeX, BibLaTeX and reference managers are correct in PDF and site, or refused."""

import re
import subprocess

import pytest

from boundpaper.paper import looks
from boundpaper.paper.bibliography import parse
from boundpaper.paper.site.works import cited_works
from boundpaper.paper.tex import pdf
from conftest import ROOT, run

CHAPTER = "paper/chapters/introduction.tex.j2"
# By key: an entry, and the texts that must appear for it in the PDF and on the site.
ENTRIES = {
    # doi2bib2#99 and related reports: characters that TeX reads as commands
    "percent": (r"@article{percent, author={Palm, Ada}, title={Growth of 50% of beans}, journal={G}, year={2020}}",
                ["Ada Palm. Growth of 50% of beans. G, 2020."]),
    "ampersand": (r"@article{ampersand, author={Ash, A}, title={Beans}, journal={Soil & Water_Notes #1}, year=2020}",
                  ["Soil & Water_Notes #1"]),
    "escaped": (r"@book{escaped, author={Ash, A}, title={At 5\% \& \#2 of a\_b}, publisher={B & C}, year=2020}",
                ["At 5% & #2 of a_b", "B & C"]),
    "money": (r"@misc{money, author={Ash, A}, title={It costs $5}, howpublished={100%\% sure}, year=2021}",
              ["It costs $5", "100%% sure"]),
    "note": (r"@misc{note, author={Ash, A}, title={Notes}, note={see a_b & c ~ d}, year={2021}}", ["see a_b & c d"]),
    # syntax that BibTeX allows
    "paren": ('@article(paren, author = "Birch, Ben", title = "A {"}quoted{"} word", journal = {G}, year = 2019)',
              ["Ben Birch", 'A "quoted" word']),
    "macros": ('@string{gz = "Garden "} @STRING(zt = {Zeitung}) @article{macros, author={Birch, B}, title={M}, '
               "journal = gz # zt # { Nr.~} # 7, month = mar, year=2018}", ["Garden Zeitung Nr. 7", "March 2018"]),
    "standard": ("@article{standard, author={Birch, B}, title={M}, journal=cacm, year=2018}",
                 ["Communications of the ACM, 2018"]),
    "nested": ("@article{nested, author={Birch, B}, title={The {{NASA} and {ESA}} Story}, journal={G}, year=2018}",
               ["The NASA and ESA story"]),
    "comments": ("@comment{@article{comments, title={old}}}\n% @misc{comments, title={older}}\n"
                 "write to bean@garden.example\n"
                 "@misc{comments,\n % note = {gone},\n author={Birch, B}, title={New One}, year=2017,\n % x\n}",
                 ["B Birch. New one, 2017"]),
    "preamble": ('@preamble{"\\newcommand{\\noopsort}[1]{} \\def\\bean#1{bean of #1}"}\n'
                 "@misc{preamble, author={Birch, B}, title={A \\bean{Rome}}, year={\\noopsort{1970}1971}}",
                 ["A bean of rome, 1971"]),
    "months": ("@misc{months, author={Birch, B}, title={M}, month={3}, year=2011}", ["March 2011"]),
    "press": ("@article{press, author={Birch, B}, title={P}, journal={G}, year={in press}}", ["G, in press"]),
    # letters and names
    "accents": (r"@misc{accents, author={{\'E}mile M{\"u}ller and Veli{\v{c}}kovi{\'c}, Petar and {\AA}ngstr\"om, "
                r"\L ukasz and Weiß, Åke Øster}, title={The {\O}resund, na{\"\i}ve}, year=2012}",
                ["Émile Müller", "Petar Veličković", "Łukasz Ångström", "Åke Øster Weiß", "The øresund, naïve"]),
    "unicode": ("@misc{unicode, author={Łęcki, Žana}, title={α-decay – “quick” H₂O 10⁻⁴ ﬁnd… Ḥasan}, year=2012}",
                ["Žana Łęcki", "find", "–", "“quick”"]),
    "team": ("@misc{team, author={{World Health and Bean Team} and Ada Alder and others}, title={T}, year=2012}",
             ["World Health and Bean Team, Ada Alder, et al."]),
    "suffix": ("@misc{suffix, author={von der Tann, Jr., Hans and Charles Louis de la Poussin}, title={T}, year=2012}",
               ["Hans von der Tann, Jr.", "Charles Louis de la Poussin"]),
    "last": ("@misc{last, author={Tann, Hans, Jr. and Yew, Y}, title={T}, year=2012}", ["Hans Tann, Jr. and Y Yew."]),
    "etal": ("@misc{etal, author={Alder, Ada et al.}, title={T}, year=2009}", ["Ada Alder et al."]),
    "müller2020": ("@misc{müller2020, author={Müller, B}, title={Of a key}, year=2020}", ["B Müller. Of a key"]),
    "2020A&A...1": ("@misc{2020A&A...1, author={Pine, P}, title={Of an odd key}, year=2020}", ["Of an odd key"]),
    "fonts": (r"@article{fonts, author={Elm, E}, title={{\it Vicia faba} and \textbf{Beans} of \LaTeX{} "
              r"\textsuperscript{2}}, journal={{\em G}}, year=2013}", ["Vicia faba and Beans of L", "G, 2013"]),
    "formula": (r"@article{formula, author={Elm, E}, title={On $\Delta_{\rm x}$ and $O(N)$}, journal={G}, year=2013}",
                ["On ∆"]),
    # addresses
    "address": (r"@misc{address, author={Elm, E}, title={U}, year=2013, url={https://e.org/~ada/a\_b%20c?d=1\&e=\%41#f}}",
                ["https://e.org/~ada/a_b%20c?d=1&e=%41#f"]),
    "doi": (r"@article{doi, author={Elm, E}, title={D}, journal={G}, year=2013, doi={{https://doi.org/10.1000/a\_(b)<c>}}}",
            ["10.1000/a_(b)<c>"]),
    "wrapped": (r"@misc{wrapped, author={Elm, E}, title={W}, year=2013, howpublished={\url{https://e.org/a_b%25}}}",
                ["https://e.org/a_b%25"]),
    # sphinxcontrib-bibtex#325 and related reports: inherited and missing fields
    "child": ("@inproceedings{child, author={Alder, Ada}, title={On Beans}, crossref={PROC}}",
              ["On beans. In B. Birch, editor, Proc. of Beans, 2020"]),
    "proc": ("@proceedings{proc, title={Proc. of Beans}, booktitle={Proc. of Beans}, year={2020}, editor={Birch, B.}}",
             ["B. Birch, editor. Proc. of Beans, 2020"]),
    "chapter": ("@incollection{chapter, author={Fir, F}, title={A Part}, crossref={whole}}\n"
                "@book{whole, editor={Gum, G}, title={The Whole}, publisher={P}, year=2001}",
                ["F Fir. A part. In G Gum, editor, The Whole. P, 2001"]),
    "untitled": ("@article{untitled, author={Alder, A.}, journal={Garden}, volume={7}, year={1999}}",
                 ["A. Alder. Garden, 7, 1999."]),
    "undated": ("@online{undated, title={A page of nobody}, url={https://e.org/page}}",
                ["A page of nobody, n.d.", "https://e.org/page"]),
    "bare": ("@misc{bare, author={Fir, F}, title={Only that}}", ["F Fir. Only that, n.d."]),
    # fields of BibLaTeX and of programs that write it
    "zot2024": ("@online{zot2024, title = {Beans {{Online}}}, author = {Alder, Ada}, date = {2024-03-01}, "
                "url = {https://e.org/zot}, urldate = {2024-04-05}, langid = {english}, file = {/a/b_c.pdf}, "
                "abstract = {50% of \\undefined things}, keywords = {a,b}}",
                ["Ada Alder. Beans Online, 1 March 2024", "Visited on 2024-04-05", "https://e.org/zot"]),
    "journaltitle": ("@article{journaltitle, author={Elm, E}, title={T}, subtitle={And More}, journaltitle={Garden}, "
                     "shortjournal={G}, date={2023}, volume={3}, issue={2}, pages={1–9}, location={Rome}, "
                     "eprint={2301.00001}, eprinttype={arxiv}, eprintclass={cs.CL}}",
                     ["T: And More. Garden, 3(2):1–9, 2023", "arXiv:2301.00001"]),
    "thesis": ("@thesis{thesis, author={Elm, E}, title={T}, type={phdthesis}, institution={University of Rome}, "
               "date={2020-05}, location={Rome}}", ["PhD thesis, University of Rome, Rome, May 2020"]),
    "master": ("@thesis{master, author={Elm, E}, title={T}, type={mathesis}, institution={Uni}, date={2020}}",
               ["Master’s thesis, Uni, 2020"]),
    "report": ("@report{report, author={Elm, E}, title={T}, type={Memo}, number={12}, institution={Office}, date=2019}",
               ["Memo 12, Office, 2019"]),
    "software": ("@software{software, author={Elm, E}, title={Bean}, version={1.2}, date={2019}, organization={House}}",
                 ["Bean. House, 2019", "Version 1.2"]),
    "dataset": ("@dataset{dataset, author={Elm, E}, title={Rows}, publisher={Zenodo}, date=2019, "
                "doi={10.5281/zenodo.1}}",
                ["Rows. Zenodo, 2019", "10.5281/zenodo.1"]),
    "preprint": ("@misc{preprint, author={Elm, E}, title={Pre}, year=2020, eprint={2001.00002}, archivePrefix={arXiv}, "
                 "primaryClass={cs.LG}}", ["Pre. arXiv:2001.00002, 2020", "https://arxiv.org/abs/2001.00002"]),
    "span": ("@book{span, author={Elm, E}, title={Works}, publisher={P}, date={1998/2001}}", ["P, 1998–2001"]),
    "inherited": ("@xdata{house, publisher={Bean House}, location={Rome}}\n"
                  "@book{inherited, author={Elm, E}, title={B}, date=2001, xdata={house}}",
                  ["Bean House, Rome, 2001"]),
}  # fmt: skip
# The content of a bibliography, the line of its fault, and a part of the error.
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


def normalised(text):
    """Return text with single spaces between words, plain quotes and one sign for Delta, to compare PDF and site."""
    plain = text.translate(str.maketrans("\u00a0\u2009’Δ”“", '  \'\u2206""'))
    return re.sub(r"\s+", " ", plain)


@pytest.fixture(scope="module")
def typeset(tmp_path_factory):
    """Typeset all valid entries in one document; return the text of its PDF, and the works of the site by key."""
    root = tmp_path_factory.mktemp("set")
    (root / "paper").mkdir()
    text = "\ufeff" + "\n\n".join(entry for entry, _ in ENTRIES.values())
    (root / "paper/references.bib").write_text(text)
    bibliography = parse(text)
    assert bibliography.faults == ()
    (root / "references.bib").write_text(bibliography.text)
    citations = "".join(f"\\citet{{{key}}}.\n\n" for key in bibliography.lines)
    body = f"\\begin{{document}}\n{citations}\\bibliography{{references}}\\end{{document}}"
    (root / "all.tex").write_text(f"\\documentclass{{scrreprt}}\n{looks.preamble(ROOT)}{body}")
    for program in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = [] if program == "bibtex" else ["-interaction=nonstopmode"]
        result = subprocess.run([program, *options, "all"], cwd=root, capture_output=True)
    log = (root / "all.log").read_text(errors="replace")
    assert result.returncode == 0, [line for line in log.splitlines() if line.startswith("!")]
    assert not re.search(r"Citation .* undefined", log)
    assert "Missing character" not in log
    return normalised(pdf.whole_text((root / "all.pdf").read_bytes())), cited_works(root)


@pytest.mark.latex
@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.reported(outcome="right")
def test_bibliography_entry_reads_the_same_in_pdf_and_site(name, typeset):
    """Compile one entry each for special characters, grammar, letters, names, addresses, inheritance, BibLaTeX."""
    pdf_text, works = typeset
    page = normalised(works[name].html.striptags().replace("\\Delta", "∆"))
    for expected in map(normalised, ENTRIES[name][1]):
        assert expected in page or name == "formula", page
        unspaced = pdf_text.replace(" ", "")
        if name not in ("address", "doi", "wrapped", "2020A&A...1"):  # addresses are broken over lines
            assert expected in pdf_text or expected.replace(" ", "") in unspaced.replace("-", ""), expected
        else:
            assert expected.replace(" ", "") in unspaced, expected


@pytest.mark.reported(
    "doi2bib2#99", "BiblioJSON#60", "sphinxcontrib-bibtex#325", "python-bibtexparser#119", outcome="right"
)
@pytest.mark.latex
def test_reported_bibliography_files_are_complete_in_pdf_and_site(tmp_path):
    """Compile a bare percent sign in a title, an entry that inherits by crossref, and a leading byte order mark."""
    root = tmp_path / "paper"
    assert run(ROOT, "new", str(root)).returncode == 0
    entries = "\n".join(ENTRIES[name][0] for name in ("percent", "child", "proc", "undated", "unicode"))
    (root / "paper/references.bib").write_text("\ufeff" + entries + "\n", newline="\r\n")
    chapter = root / CHAPTER
    chapter.write_text(chapter.read_text() + "\n\\citep{percent,child,proc,undated,unicode}\n")
    result = run(root, "paper")
    assert result.returncode == 0, result.stderr
    text = normalised(pdf.whole_text((root / "out/thesis.pdf").read_bytes()))
    for expected in ("Growth of 50% of beans. G, 2020", "Proc. of Beans, 2020", "A page of nobody, n.d."):
        assert expected in text
    result = run(root, "site")
    assert result.returncode == 0, result.stderr
    page = normalised((root / "out/site/bibliography.html").read_text())
    assert "Growth of 50% of beans" in page
    assert "Proc. of Beans" in page
    assert '<a href="chapter/introduction.html">' in page
    result = run(root, "check")
    assert result.returncode == 0, result.stderr
    assert re.search(r"note: paper/references\.bib:\d+: proc", result.stderr) is None
    places = root / "artifacts/sources/places.csv"
    places.write_text(places.read_text().rstrip("\n") + "\nbeans T1,thesis,Heights,Table 1,persent\n")
    result = run(root, "check")
    assert result.returncode == 1
    assert "places.csv: row 2, citation: names 'persent', which is not in paper/references.bib" in result.stderr
    assert "did you mean 'percent'?" in result.stderr
    (root / "paper/references.bib").write_text(REFUSED[0][0] + entries)
    for command in ("paper", "site", "check"):
        result = run(root, command)
        assert result.returncode == 1
        assert "paper/references.bib:1: bean2020: author name 1" in result.stderr


@pytest.mark.parametrize(("text", "line", "message"), REFUSED[1:])
@pytest.mark.reported(outcome="refused")
def test_invalid_bibliography_entries_are_reported_with_their_line(text, line, message):
    """Read entries with faulty grammar, names, keys, dates, commands or addresses; each error says where and what."""
    faults = [str(fault) for fault in parse(text).faults]
    assert any(fault.startswith(f"paper/references.bib:{line}: ") and message in fault for fault in faults), faults
    assert all("\n" not in fault and len(fault) < 330 for fault in faults)


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
    """Put scripts and foreign URL schemes into every field printed as HTML; each is shown as text, or refused."""
    import html5lib

    (tmp_path / "paper").mkdir()
    title = "" if "title" in payload else "title = {T}, "
    text = f"@misc{{a, {title}{payload}}}"
    (tmp_path / "paper/references.bib").write_text(text)
    if parse(text).faults:
        assert re.search("not a web address|which is not allowed|has no host|not a DOI", str(parse(text).faults[0]))
        return
    html = cited_works(tmp_path)["a"].html
    tree = html5lib.parse(str(html), namespaceHTMLElements=False)
    assert not list(tree.iter("script"))
    assert not list(tree.iter("img"))
    assert not list(tree.iter("b"))
    for link in tree.iter("a"):
        assert link.get("href").startswith(("https://", "http://"))
        assert set(link.attrib) == {"href"}
