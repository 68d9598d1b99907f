"""Does a head's most attended key change more often in heads whose pairs of keys are more plastic?"""

from typing import Any

import numpy as np

from keyquery.measure.heads.captured import finding_row, findings
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys

SETTINGS: dict[str, Any] = {
    "top_changes": "share of queries from the second on whose heaviest key is another than the query's before",
    "estimator": "aligned_full",
    "pairs": "earlier",
}


def measure(subject: Subject, options: Options) -> list[Row]:
    """Return rows of how often a head's most attended key changes or is the first token, and of the head's plasticity.

    Plasticity comes from a capture of the same kind of text.
    """
    text_surveys = surveys(subject, options)
    rows: list[Row] = []
    for index, layer in enumerate(text_surveys[0].layers.tolist()):
        for head in range(text_surveys[0].heads):
            for metric in ("top_changes", "top_first"):
                mean = float(np.mean([getattr(survey, metric)[index, head] for survey in text_surveys]))
                rows.append(row(metric, mean, len(text_surveys), layer=layer, head=head))
    for result in findings(subject, options):
        rows += [finding_row(result, metric) for metric in ("ap_overall", "ap_last_20")]
    return rows
