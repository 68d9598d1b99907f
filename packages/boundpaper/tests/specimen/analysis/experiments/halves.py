"""Mean loss of the first and of the second half of each text."""

from typing import Any

from keyquery.measure.evaluation import ask_once
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.models.answers.likelihood import token_nats
from keyquery.models.libraries import need

SETTINGS: dict[str, Any] = {"halves": ["first", "second"]}


def measure(subject: Subject, options: Options) -> list[Row]:
    """Measure the loss of both halves of each text: one row per text and half, in nats per token."""
    texts = subject.texts(options)
    asked = [[text.id, text.seed] for text in texts]

    def ask() -> list[list[float]]:
        torch = need("torch")
        with torch.no_grad():
            return [token_nats(subject.model, text.tokens)[0].double().tolist() for text in texts]

    rows: list[Row] = []
    for text, nats in zip(texts, ask_once(subject, "halves", {"texts": asked}, ask), strict=True):
        middle = len(nats) // 2
        for name, part in (("first", nats[:middle]), ("second", nats[middle:])):
            rows.append(row("loss", sum(part) / len(part), len(part), condition=name, unit_id=text.id, seed=text.seed))
    return rows
