"""Read the printed paper that compares two models."""

import json
import subprocess
from pathlib import Path

import pandas as pd

from boundpaper.typeset.numbers import significant


def pages(pdf: Path) -> list[str]:
    """Return the text of each page."""
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return text.replace("\N{MINUS SIGN}", "-").split("\f")[:-1]


def printed(paper: Path) -> tuple[list[str], pd.DataFrame]:
    """Return the text of each page of a comparison, and the result table; check that page 1 prints every estimate."""
    text = pages(paper / "out/chapters/comparison.pdf")
    table = pd.read_csv(paper / "artifacts/results/comparison.csv")
    bound = {cell["origins"][0]["column"] for cell in json.loads((paper / "out/bound/comparison.json").read_text())}
    assert {"reference_mean", "model_mean", "estimate", "n"} <= bound
    for row in table.itertuples():
        assert significant(3).show(row.estimate, "plain").replace("\N{MINUS SIGN}", "-") in " ".join(text[0].split())
    assert (table["p_adjusted"] >= table["p_value"]).all()
    assert table["adjustment"].unique().tolist() == [f"Holm over {len(table)} tests of this comparison"]
    return text, table
