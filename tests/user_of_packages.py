"""Code that uses every public name and asserts its type.

`make lint` type-checks this file against the sources, and a test does so against the wheels. The code never runs.
"""

from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from transformers import PreTrainedModel, PreTrainedTokenizerBase

import boundpaper as bp
import keyquery as kq
from boundpaper.store.schema import Fault
from keyquery.models.captures.manifest import Manifest


def papers() -> None:
    paper = bp.new("beans", title="Beans")
    assert_type(paper, bp.Paper)
    assert_type(bp.open("beans").root, Path)
    assert_type(paper.read("heights"), pd.DataFrame)
    assert_type(paper.check(), list[Fault])
    assert_type(paper.claims(), pd.DataFrame)
    assert_type(paper.trace("18.4"), list[str])
    assert_type(bp.__version__, str)


@bp.claim("beans, Results")
def claims(heights: pd.DataFrame) -> bp.Verdict:
    cell = bp.quote(heights, lamp="sun")
    assert_type(cell, bp.QuotedCell)
    assert_type(cell.value, float | None)
    assert_type(cell.number, float)
    assert_type(cell.interval, bp.statistics.Interval)
    assert_type(bp.about(cell, 18.0, reason="It was measured."), bp.Verdict)
    try:
        verdict = bp.compare(cell, 18.0, reason="It was measured.")
    except bp.errors.DataError as error:
        raise SystemExit(str(error)) from error
    assert_type(verdict.verdict, str)
    return verdict


def statistics(first: list[float], second: list[float]) -> None:
    row = bp.statistics.pearson(first, second, study="beans", comparison="light", unit="plant")
    assert_type(row, bp.statistics.Estimate)
    assert_type(row.estimate, float | None)
    assert_type(bp.statistics.wilson_interval(3, 8), tuple[float, float])
    assert_type(bp.statistics.frame([row]), pd.DataFrame)


def tables(heights: pd.DataFrame) -> None:
    column = bp.Column("height", "Height", bp.fixed(1), unit="cm")
    table = bp.Table(rows=heights, columns=[column], caption="Heights.")
    assert_type(column, bp.Column)
    assert_type(table, bp.Table)
    assert_type(table.to_latex("heights"), str)
    assert_type(table.to_html(), str)
    formats = (bp.fixed(1), bp.integer(), bp.percent(), bp.points(), bp.signed(1), bp.times())
    assert_type([number_format.show(18.4, "plain") for number_format in formats], list[str])
    assert_type(bp.interval(1).show((8.1, 18.4)), str)
    assert_type(bp.uncertain().show((18.4, 0.3)), str)
    assert_type(bp.significant(2).show(18.4), str)
    assert_type(bp.scientific().show(18.4), str)
    assert_type(bp.pvalue().show(0.01), str)
    assert_type(bp.printed().show("~18"), str)
    assert_type([text_format.show("beans") for text_format in (bp.text, bp.markup, bp.sentences)], list[str])


def figures(heights: pd.DataFrame, drawing: MatplotlibFigure) -> None:
    growth = bp.lines(heights, "day", "height", by="lamp")
    assert_type(growth, list[bp.Line])
    assert_type(bp.Style(color="okblue"), bp.Style)
    panel = bp.Panel(
        series=[
            *growth,
            bp.Points(x=[1], y=[2]),
            bp.Fit(x=[1, 2], y=[2, 3]),
            bp.Bars(x=["sun"], y=[2]),
            bp.Stacked(x=["sun"], y=[2]),
            bp.Bundle(x=[1, 2], lines=[[2, 3], [3, 4]]),
            bp.Forest(rows=["sun"], estimate=[2], low=[1], high=[3]),
            bp.Heatmap(values=[[1.0]]),
        ],
        x=bp.Axis(label="day", scale="log"),
        shades=[bp.Shade(low=1, high=2)],
        rules=[bp.Rule(at=1.0)],
        annotations=[bp.Annotation(x=1, y=2, text="harvest")],
    )
    assert_type(panel, bp.Panel)
    figure = bp.Figure(panels=[panel], caption="Growth.")
    assert_type(figure.save("growth.pdf"), Path)
    assert_type(bp.from_matplotlib(drawing, caption="Growth."), bp.Figure)


def arrays() -> None:
    positions, document = np.arange(64), np.zeros(64, dtype=int)
    head = kq.Head(
        queries=np.ones((64, 8)),
        keys=np.ones((64, 8)),
        query_positions=positions,
        key_positions=positions,
        query_documents=document,
        key_documents=document,
        context=64,
    )
    plasticity = kq.plasticity(head, bins=4)
    assert_type(plasticity, kq.Plasticity)
    assert_type(plasticity.options, kq.PlasticityOptions)
    assert_type(plasticity.to_frame(), pd.DataFrame)
    assert_type(kq.experiments(), dict[str, str])
    assert_type(kq.__version__, str)


def models() -> None:
    model = kq.load("tiny-rope")
    assert_type(model, kq.Model)
    assert_type(model.name, str)
    assert_type(model.network, PreTrainedModel)
    assert_type(model.tokenizer, PreTrainedTokenizerBase)
    assert_type(model.perplexity("Anna likes Ben ."), float)
    with kq.intervene(model, kq.Intervention("mlp", "zero", layers=(1,))) as changed:
        assert_type(changed, kq.Model)
    capture = kq.capture(model, texts="texts.jsonl", context=128, out="captured")
    assert_type(capture, kq.Capture)
    assert_type(capture.manifest, Manifest | None)
    assert_type(kq.open_capture("captured"), kq.Capture)
    assert_type(kq.analyse(capture), pd.DataFrame)
    rows = kq.run("sinks", model)
    assert_type(rows, pd.DataFrame)
    assert_type(kq.save(rows, "paper"), list[Path])
    compared = kq.compare(rows, "other-model")
    assert_type(compared, kq.Comparison)
    assert_type(compared.report("report"), list[Path])
