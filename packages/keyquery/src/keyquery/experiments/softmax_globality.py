"""Does a head's most attended key change more often in heads whose pairs of keys are more plastic?"""

from typing import Any

import numpy as np

from keyquery.measure.heads.captured import findings
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys

SETTINGS: dict[str, Any] = {
    "top_changes": "share of queries from the second on whose heaviest key is another than the query's before",
    "estimator": "aligned_full",
    "pairs": "earlier",
}


def measure(subject: Subject, options: Options) -> list[Row]:
    """Measure, for each head, how often its most attended key changes or is the first token, and its plasticity.

    Plasticity comes from a capture of the same kind of text; a study correlates the two over heads.
    """
    by_text = surveys(subject, options)
    rows: list[Row] = []
    for place, layer in enumerate(by_text[0].layers.tolist()):
        for head in range(by_text[0].heads):
            changes = float(np.mean([survey.top_changes[place, head] for survey in by_text]))
            share = float(np.mean([survey.top_first[place, head] for survey in by_text]))
            rows.append(row("top_changes", changes, len(by_text), layer=int(layer), head=head))
            rows.append(row("top_first", share, len(by_text), layer=int(layer), head=head))
    for finding in findings(subject, options):
        for metric in ("ap_overall", "ap_last_20"):
            rows.append(
                row(
                    metric,
                    finding.metrics.get(metric),
                    finding.queries,
                    layer=finding.layer,
                    head=finding.head,
                    reason=finding.reasons.get(metric, ""),
                )
            )
    return rows
