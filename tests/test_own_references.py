"""Metadata and bibliography of the thesis."""

from pathlib import Path

import pytest

from boundpaper.build.job import Job
from boundpaper.paper import bibliography, document, lint, metadata
from boundpaper.paper.tex import pdf
from conftest import ROOT


def test_thesis_metadata_and_bibliography_are_valid() -> None:
    thesis = metadata.read(ROOT)
    assert thesis.title
    references = bibliography.read(ROOT)
    assert len(references.entries) > 80
    assert not references.faults
    assert not references.gaps
    sample = (
        "Llama-3.1-8B, Llama 3.2 11B Vision, Qwen3-0.6B, Mistral 7B v0.2, SmolLM3-3B, Ministral 3 8B, 4-bit NF4, H8"
    )
    assert not lint.find_typed_digits(sample, "c", thesis.names, thesis.terms)
    assert len(lint.find_typed_digits("Qwen3 gains 14 points at 8 heads", "c", thesis.names, thesis.terms)) == 2


@pytest.mark.latex
def test_every_bibliography_entry_of_the_thesis_compiles(tmp_path: Path) -> None:
    files = {
        "paper/references.bib": (ROOT / "paper/references.bib").read_text(),
        "paper/metadata.yaml": "title: Beans\nauthor: Nobody\ndate: May 2026\nkeywords: [beans]\nchapters: [one]\n",
        "paper/chapters/one.tex.j2": "",
        "paper/chapters/abstract.tex.j2": "",
        "out/chapters/one.tex": "\\chapter{One}\n\\label{cha:one}\n\\nocite{*}\n",
        "out/chapters/abstract.tex": "What was found.\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    content = document.build(Job(tmp_path, "thesis", "thesis", "boundpaper/paper/document.py"))["out/thesis.pdf"]
    assert isinstance(content, bytes)
    assert "Permutation P-values should never be zero" in pdf.whole_text(content)
