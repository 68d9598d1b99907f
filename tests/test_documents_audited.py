"""The audit reads the tables of this repository's Markdown files, and finds no contradiction."""

from boundpaper.audit import checks
from boundpaper.audit.reading import read
from conftest import ROOT


def test_markdown_files_of_the_repository_pass_the_audit():
    files = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("packages/*/README.md"))]
    documents = [read(path, str(path)) for path in files]
    assert [str(finding) for finding in checks.audit(documents) if finding.level != "note"] == []
    covered = checks.coverage(documents)
    assert covered["tables"] > 30
    assert covered["relations"] > 2
