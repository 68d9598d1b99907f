"""Faults in a folder to be adopted: each is reported in one line with a remedy."""

import pytest

from adopting import HEIGHTS, MAIN, adopted, run, write_paper


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"second_dot_tex": MAIN, "main_dot_tex": "x"}, ""),  # the main file is the one with \documentclass
        ({"supplement_dot_tex": MAIN}, ""),  # of two, the main file is main.tex
        ({"a__x_dot_tex": MAIN}, ""),  # files in subfolders are no main files
        ({"package_dot_json": "{}"}, "left out: package.json"),
        ({"results__bad_dot_csv": "a,b\n1,2\n1,2,3\n"}, "left out: results/bad.csv: row 3 has 3 cells, but the"),
        ({"results__twice_dot_csv": "a,a\n1,2\n"}, "two columns would be called a"),
        ({"results__bad_dot_json": '{"a": 1, "a": 2}'}, "the key 'a' occurs twice"),
        ({"results__empty_dot_csv": ""}, "left out: results/empty.csv (empty)"),
        ({"results__page_dot_csv": "<!DOCTYPE html><html></html>"}, "results/page.csv: is an HTML page"),
    ],
)
def test_init_reads_usable_data_files_and_reports_the_unusable(tmp_path, files, words):
    root = write_paper(tmp_path, **files)
    assert words in run(root, "init")
    run(root, "build", "--check")


def test_init_refuses_two_files_with_documentclass_and_lists_both(tmp_path):
    root = write_paper(tmp_path, one_dot_tex=MAIN)
    (root / "main.tex").rename(root / "two.tex")
    assert "one.tex, two.tex: several files begin a document" in run(root, "init", code=1)
    run(root, "init", "--main", "two.tex", "--main", "one.tex")
    assert all(r"\input{bound/bound}" in (root / name).read_text() for name in ("one.tex", "two.tex"))
    run(root, "lint", "--fix")
    run(root, "flatten", "--in-place")
    assert (root / "one.tex").read_text() == (root / "two.tex").read_text() == MAIN


def test_init_reports_missing_main_file_or_data(tmp_path):
    assert "no LaTeX file with \\documentclass" in run(tmp_path, "init", code=1)
    (tmp_path / "main.tex").write_text(MAIN)
    assert "put the results there, or name them: --data FILE" in run(tmp_path, "init", code=1)
    assert "no boundpaper.toml here or above" in run(tmp_path, "build", code=1)
    adopted(tmp_path / "x")
    assert "boundpaper.toml: exists already" in run(tmp_path / "x", "init", code=1)


def test_init_binds_numbers_in_files_that_main_inputs(tmp_path):
    main = MAIN.replace(
        "\\section{A", "\\input{sections/one}\n\\include{two}\\subfile{sections/three.tex}\n\\section{A"
    )
    text = "Part of 0.8314 and $-0.314$.\n"
    subfile = "\\documentclass[../main.tex]{subfiles}\n\\begin{document}\nOf 0.8314.\n\\end{document}\n"
    files = {"sections__one_dot_tex": text, "two_dot_tex": text, "sections__three_dot_tex": subfile}
    root = write_paper(tmp_path, main, **files, unused_dot_tex=text)
    run(root, "init")
    run(root, "lint", "--fix")
    for name in ("sections/one.tex", "two.tex", "sections/three.tex"):
        assert r"\val{heights/bean,1/gain:.4f}" in (root / name).read_text()
    assert (root / "unused.tex").read_text() == text
    run(root, "flatten", "--in-place")
    assert (root / "sections/one.tex").read_text() == (root / "two.tex").read_text() == text
    assert (root / "main.tex").read_text() == main


def test_init_uses_boundval_when_the_paper_defines_its_own_val(tmp_path):
    main = MAIN.replace("\\title", "\\newcommand{\\val}{\\mathrm{val}}\n\\title").replace(
        "The bean", "$x_\\val$ The bean"
    )
    root = write_paper(tmp_path, main)
    assert "the macro for values is called \\boundval" in run(root, "init")
    run(root, "lint", "--fix")
    assert r"\boundval{heights/bean,1/gain:.3f}" in (root / "main.tex").read_text()
    run(root, "flatten", "--in-place")
    assert (root / "main.tex").read_text() == main


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('key = ["plant", "lamp"]', 'key = ["plant"]', "plant do not identify each row (bean again in row 4)"),
        ('["plant", "lamp"]', '["plnt"]', "no column 'plnt', which boundpaper.toml names as a key; did you mean"),
        ("[tables.heights]", "[tables.hights]", "no table 'hights' in the data; did you mean 'heights'?"),
        ("main =", "mian =", "'mian' has no meaning here; did you mean 'main'?"),
        ('main = "main.tex"', 'main = "other.tex"', "main names other.tex, which is not there"),
        ('main = "main.tex"', "main = 3", "main is 3; give a text or a list of texts"),
        ('"results/*.csv"', '"results/*.tsv"', "no file matches 'results/*.tsv'"),
        ('"results/*.csv"', '"*.tex"', "main.tex does not end in one of .csv"),
        ('"results/*.csv"', '"/etc/*.csv"', "matches no files here"),
        ("[tables", "[tables", ""),
        ("main =", "main ==", "boundpaper.toml: "),
    ],
)
def test_invalid_toml_setting_is_reported_in_at_most_two_lines(tmp_path, old, new, words):
    root = adopted(tmp_path)
    path = root / "boundpaper.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    output = run(root, "build", code=1 if words else 0)
    assert words in output
    assert len(output.splitlines()) <= 2


def test_init_reads_further_data_formats(tmp_path):
    root = write_paper(tmp_path)
    (root / "results/more.tsv").write_text("name\tv\nbean\t0.6123\n")
    (root / "results/comma.csv").write_text("name;v\nbean;0,7345\npea;0,1\n")
    (root / "results/runs.jsonl").write_text('{"name": "bean", "v": 0.4567}\n{"name": "pea", "v": null}\n')
    (root / "results/accents.csv").write_text("name,v\nfève,0.9123\nβ,0.1\n")
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"name": ["bean", "pea"], "v": [0.2468, 1.5]}).to_parquet(root / "results/packed.parquet")
    run(root, "init")
    text = (root / "bound/bound.tex").read_text()
    assert text.isascii()
    for line in (
        r"\bound@set{more/v}{0.6123}",
        r"\bound@set{comma/bean/v}{0.7345}",
        r"\bound@set{runs/bean/v}{0.4567}",
        r"\bound@set{accents/feve/v}{0.9123}",
        r"\bound@set{accents/u03b2/v}{0.1}",
        r"\bound@set{packed/bean/v}{0.2468}",
    ):
        assert line in text


def test_data_files_of_equal_name_get_keys_with_their_folder(tmp_path):
    root = adopted(tmp_path, runs__a__heights_dot_csv=HEIGHTS, runs__b__heights_dot_csv=HEIGHTS)
    text = (root / "bound/bound.tex").read_text()
    assert r"\bound@set{a-heights-csv/bean,1/gain}{0.8314}" in text
    assert r"\bound@set{b-heights-csv/bean,1/gain}{0.8314}" in text


@pytest.mark.parametrize(("pattern", "words"), [("(", "is not a regular expression"), ("(a+)+", "repeats an unb")])
def test_invalid_or_slow_regex_in_lint_names_is_refused(tmp_path, pattern, words):
    root = adopted(tmp_path / "x")
    with (root / "boundpaper.toml").open("a") as stream:
        stream.write(f"\n[lint]\nnames = ['{pattern}']\n")
    assert f"'{pattern}' in lint.names {words}" in run(root, "lint", code=1)
