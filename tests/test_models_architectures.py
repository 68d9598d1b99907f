"""The page of architectures is complete, and a sample of its rows can be recomputed."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

import architectures
from keyquery.models.libraries import version

pytestmark = pytest.mark.models

PAGE = (Path(__file__).parents[1] / "docs/architectures.md").read_text(encoding="utf-8")
KINDS = (
    "llama", "opt", "nemotron_h", "deepseek_v3", "llama4_text", "gpt_oss", "bart", "bert", "doge", "falcon", "mamba",
    "rwkv", "xglm",
)  # fmt: skip


@pytest.mark.skipif(f"transformers {version('transformers')}" not in PAGE, reason="the page is of another version")
@pytest.mark.parametrize("kind", KINDS)
def test_row_of_a_sampled_architecture_is_up_to_date(kind: str) -> None:
    assert architectures.row(architectures.look(kind)) in PAGE.splitlines()


@pytest.mark.skipif(f"transformers {version('transformers')}" not in PAGE, reason="the page has another version")
def test_every_causal_architecture_has_a_row() -> None:
    rows = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert sorted(rows) == architectures.types()
