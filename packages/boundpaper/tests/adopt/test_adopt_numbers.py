"""An existing paper is adopted: its numbers are bound and built, and its source can be restored byte for byte."""

import json

import pytest

from adopting import MAIN, adopted, commit_all, needs_tex, pdf_text, run, write_paper


def _bound_text(root):
    return (root / "bound/bound.tex").read_text()


def test_init_writes_three_files_and_adds_one_line_to_the_main_file(tmp_path):
    root = adopted(tmp_path)
    assert (root / "main.tex").read_text() == MAIN.replace("{article}\n", "{article}\n\\input{bound/bound}\n")
    assert '[tables.heights]\nkey = ["plant", "lamp"]' in (root / "boundpaper.toml").read_text()
    assert r"\bound@set{heights/pea-co,1/loss}{-0.314}" in _bound_text(root)
    assert r"\bound@set{trial/trial/sun/word}{5\% off}" in _bound_text(root)


def test_a_dry_run_writes_nothing(tmp_path):
    write_paper(tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "main.tex: one line added" in run(tmp_path, "init", "--dry-run")
    assert files == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.latex
def test_bound_paper_prints_the_same_pages_and_flatten_restores_the_source(tmp_path):
    write_paper(tmp_path)
    before = pdf_text(tmp_path)
    run(tmp_path, "init")
    output = run(tmp_path, "lint", "--fix")
    text = (tmp_path / "main.tex").read_text()
    assert "10 bound" in output, output
    assert r"\val{heights/bean,1/gain:.3f}" in text
    assert r"$\val{heights/pea-co,1/loss:.3f}$" in text
    assert r"\val{heights/bean,1/pods:;d}" in text
    assert r"\val{heights/pea-co,1/gain:.4n}" in text
    assert r"\val{heights/bean,1/gain:.2p}\%" in text
    assert pdf_text(tmp_path) == before
    run(tmp_path, "flatten", "-o", "plain")
    assert (tmp_path / "plain/main.tex").read_text() == MAIN
    run(tmp_path, "flatten", "--in-place")
    assert (tmp_path / "main.tex").read_text() == MAIN


@pytest.mark.parametrize(
    "main",
    [
        MAIN.replace("\n", "\r\n").encode(),
        MAIN.replace("bean gains", "fève à gagné").encode("latin-1"),
        MAIN.replace("\\documentclass{article}\n", "\\documentclass[a4paper,\n  11pt]{article} % a class\n").encode(),
        MAIN.replace("\\documentclass{article}\n", "\\documentclass{article}\\usepackage{url}\n").encode(),
        MAIN.rstrip("\n").encode(),
    ],
)
def test_flatten_restores_every_byte_of_the_source(tmp_path, main):
    root = write_paper(tmp_path, main)
    run(root, "init")
    assert "bound" in run(root, "lint", "--fix")
    assert (root / "main.tex").read_bytes() != main
    run(root, "flatten", "--in-place")
    assert (root / "main.tex").read_bytes() == main


def test_build_changes_one_line_per_changed_cell_and_none_otherwise(tmp_path):
    root = adopted(tmp_path)
    run(root, "lint", "--fix")
    before, stamp = _bound_text(root), (root / "bound/bound.tex").stat().st_mtime_ns
    run(root, "build")
    run(root, "build", "--check")
    assert (root / "bound/bound.tex").stat().st_mtime_ns == stamp
    data = root / "results/heights.csv"
    data.write_text(data.read_text().replace("0.7212", "0.7333"))
    assert "bound/bound.tex: differs from the data" in run(root, "build", "--check", code=1)
    assert _bound_text(root) == before
    run(root, "build")
    changed_lines = [line for line in _bound_text(root).splitlines() if line not in before.splitlines()]
    assert changed_lines
    assert all(".7333" in line for line in changed_lines)


def test_unknown_key_is_reported_with_its_line_and_the_nearest_name(tmp_path):
    root = adopted(tmp_path)
    for typed, words in (
        (r"\val{heights/been,1/gain:.3f}", "no cell heights/been,1/gain; did you mean heights/bean,1/gain?"),
        (r"\val{trial/trial/sun/shore}", "did you mean trial/trial/sun/share?"),
        (r"\val{hights/bean,1/gain}", "no table 'hights' in the data; did you mean 'heights'?"),
        (r"\val{heights/bean,1/gain:3f}", "'3f' is not a format"),
        (r"\val{trial/trial/sun/word:.2f}", "is '5% off', not a number"),
        (r"\boundrows{all}", "no [rows.all] in boundpaper.toml"),
        (r"\val", r"\val without {...}"),
    ):
        text = (root / "main.tex").read_text()
        (root / "main.tex").write_text(text.replace("\\maketitle\n", f"\\maketitle\n{typed}\n"))
        output = run(root, "build", code=1)
        assert "main.tex:8: " in output, output
        assert words in output, output
        (root / "main.tex").write_text(text)


def test_generated_file_edited_by_hand_is_overwritten_only_with_force(tmp_path):
    root = adopted(tmp_path)
    path = root / "bound/bound.tex"
    generated = path.read_text()
    path.write_text(generated.replace("0.8314", "0.9"))
    assert "edited by hand" in run(root, "build", code=1)
    assert "0.9" in path.read_text()
    run(root, "build", "--force")
    assert path.read_text() == generated
    (root / "bound/lock.json").write_text("<<<<<<< HEAD\n")
    assert "run `boundpaper build --force`" in run(root, "build", code=1)
    run(root, "build", "--force")
    assert json.loads((root / "bound/lock.json").read_text())


def test_macros_for_names_rows_and_arguments_are_written(tmp_path):
    root = adopted(tmp_path)
    toml = (root / "boundpaper.toml").read_text()
    (root / "boundpaper.toml").write_text(
        toml + '[values]\nbest = "heights/bean,1/gain:.2f"\n[rows.first]\ntable = "heights"\n'
        'columns = ["plant", "gain:.1p", "loss:.2f"]\nwhere = {lamp = "1"}\nsort = "gain"\n'
    )
    text = (root / "main.tex").read_text()
    text = text.replace("\\title", "\\newcommand\\gain[2]{\\val{heights/#1,#2/gain:.1f}}\n\\title")
    text = text.replace(r"Bean & 0.8314 \\ \midrule Pea & 0.7212 \\", "\\boundrows{first}").replace(
        "The bean", r"\val{best} \gain{bean}{2}"
    )
    (root / "main.tex").write_text(text)
    run(root, "build")
    assert "pea \\& co & 72.1 & -0.31 \\\\\nbean & 83.1 & 0.25 \\\\}" in _bound_text(root)
    assert r"\bound@set{best}{0.83}" in _bound_text(root)
    assert r"\bound@set{heights/bean,2/gain:.1f}{0.5}" in _bound_text(root)
    assert "contains an argument of a macro" in run(root, "flatten", "-o", "plain", code=1)


@pytest.mark.latex
@needs_tex("siunitx.sty", "hyperref.sty")
def test_val_macro_prints_wherever_a_number_is_allowed(tmp_path):
    v = r"\val{heights/bean,1/gain:.3f}"
    main = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{siunitx,booktabs,hyperref}\n"
        "\\title{T V}\\begin{document}\\maketitle\\tableofcontents\\listoftables\\section{S V}x\\footnote{F V} "
        "\\textbf{B V} $M=V^{V}$ \\num{V} \\SI{V}{\\metre} \\val{heights/bean,3/gain} \\begin{table}\\caption[K V]{C V}"
        "\\begin{tabular}{lS}\\toprule a & V\\\\\\midrule\\boundrows{r}\\bottomrule"
        "\\end{tabular}\\end{table}\\end{document}\n"
    ).replace("V", v)
    root = adopted(tmp_path, main=main.replace(r"\val{heights/bean,3/gain}", "").replace(r"\boundrows{r}", ""))
    toml = (root / "boundpaper.toml").read_text()
    (root / "boundpaper.toml").write_text(toml + '[rows.r]\ntable = "heights"\ncolumns = ["plant", "gain:.3f"]\n')
    path = root / "main.tex"
    path.write_text(path.read_text().replace(r"\bottomrule", r"\boundrows{r}\bottomrule"))
    run(root, "build")
    path.write_text(path.read_text().replace(r"\begin{table}", r"\val{heights/bean,3/gain}\begin{table}"))
    text = pdf_text(root, passes=2)
    assert text.count("0.831") == 13, text
    assert "??heights/bean,3/gain??" in text
    assert "is unknown; run boundpaper build" in (root / "main.log").read_text()


def test_lint_against_a_revision_reports_stale_numbers(tmp_path):
    root = adopted(tmp_path)
    commit_all(root)
    data = root / "results/trial.json"
    data.write_text(data.read_text().replace("2295", "1995"))
    path = root / "main.tex"
    path.write_text(path.read_text().replace("The bean", "After 2{,}295 ms the bean"))
    output = run(root, "lint", code=1)
    assert "main.tex:9: 2{,}295 is typed; trial/trial/sun/late-ms was 2295 at HEAD and is 1995 now (stale)" in output
    assert "not a git revision here" in run(root, "lint", "--against", "nowhere", code=1)


def test_lint_interactive_asks_and_applies_the_answer(tmp_path):
    root = adopted(tmp_path)
    path = root / "main.tex"
    path.write_text(path.read_text().replace("The bean gains 0.831", "The bean gains 0.52"))
    run(root, "lint", "--fix")
    assert "0.52" in path.read_text()
    output = run(root, "lint", "-i", stdin="1\n")
    assert r"\val{heights/bean,2/gain:.2f}" in output
    assert r"gains \val{heights/bean,2/gain:.2f}" in path.read_text()
