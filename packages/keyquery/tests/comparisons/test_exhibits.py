"""Exhibits for any measured models."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import boundpaper as bp
from boundpaper.cli.door import command_line
from boundpaper.errors import DataError
from keyquery.exhibits import measured_figure, measured_table
from keyquery.measure.measurements import save
from keyquery.measure.rows import Row, frame, row


def rows(shift: float) -> list[Row]:
    """Return one row for each of six texts, and one row of a quantity without rows of single texts."""
    texts = [
        row("sink_score", shift + 0.1 * number, 1, condition="rows=all", unit_id=f"t{number}") for number in range(6)
    ]
    return [*texts, row("sink_rate", 0.25, 6, condition="rows=all tau=0.3")]


def measured(**shifts: float) -> pd.DataFrame:
    tables = [frame(rows(shift), "rope", "fp32").assign(model=name) for name, shift in shifts.items()]
    return pd.concat(tables, ignore_index=True)


def test_measured_table_has_one_row_per_model_and_quantity() -> None:
    table = measured_table(measured(one=0.1, two=0.2, three=0.3), "sinks", ["three", "one"])
    assert table.rows["model"].tolist() == ["three", "one"] * 2
    assert table.rows["estimate"].tolist() == pytest.approx([55.0, 35.0, 25.0, 25.0])
    assert "no interval: single units are not kept" in table.to_markdown().lower()
    with pytest.raises(DataError, match="sinks was not measured on 'tow'; did you mean 'two'"):
        measured_table(measured(one=0.1, two=0.2), "sinks", ["tow"])
    with pytest.raises(DataError, match="no summarised quantity"):
        measured_table(measured(one=0.1), "massive_values")


def test_quantity_that_a_model_lacks_is_noted_under_table_and_figure() -> None:
    all_values = measured(one=0.1, two=0.2)
    incomplete = all_values[(all_values["model"] == "one") | (all_values["metric"] == "sink_score")]
    note = "two was not measured by: heads that are sinks at 0.3."
    assert note in measured_table(incomplete, "sinks").note
    assert note in measured_figure(incomplete, "sinks").note
    assert not measured_table(all_values, "sinks").note


def test_measured_figure_draws_only_quantities_with_an_interval() -> None:
    figure = measured_figure(measured(one=0.1, two=0.2), "sinks")
    assert [panel.x.label for panel in figure.panels] == ["attention to the first token (%)"]
    bare = measured(one=0.1).query("metric == 'sink_rate'")
    with pytest.raises(DataError, match="no quantity has an interval"):
        measured_figure(bare, "sinks")


def test_a_model_that_is_measured_later_appears_in_the_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = bp.new(tmp_path / "paper")
    monkeypatch.chdir(paper.root)
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(paper.root))
    save(paper.root, {"sinks": frame(rows(0.1), "rope", "fp32")}, "one", {"command": "run", "options": {"tokens": 8}})
    result = CliRunner().invoke(command_line(), ["exhibits", "sinks"])
    assert result.stdout.split() == ["tables/measured/measured_sinks.py", "figures/measured/measured_sinks.py"]
    other = {"command": "run", "options": {"tokens": 64, "place": "manual"}}
    save(paper.root, {"sinks": frame(rows(0.2), "rope", "fp32")}, "two", other)
    table = paper._command("table", "measured_sinks", "--format", "markdown")
    assert "| two " in table
    assert "Models differ in tokens: 8 (one); 64 (two)." in table
    assert "Models differ in --texts: not given (one); manual (two)." in table
    assert paper._command("figure", "measured_sinks", "--format", "tex").strip() == "out/figures/measured_sinks.tex"
    refusal = CliRunner().invoke(command_line(), ["exhibits", "sink"])
    assert (refusal.exit_code, "did you mean 'sinks'" in refusal.stderr) == (2, True)
