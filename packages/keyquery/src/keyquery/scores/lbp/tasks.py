"""LongBench Pro's tasks, languages and lengths, and the metric by which each task is scored (arXiv 2601.02872)."""

from collections.abc import Mapping

DATA = "caskcsg/LongBench-Pro"
LENGTHS = ("8k", "16k", "32k", "64k", "128k", "256k")
LANGUAGES = ("English", "Chinese")
MODES = ("nonthinking", "thinking")

NDCG, PAIRS, EXACT, F1, PRESENT, SUMMARY = "ndcg", "pairwise", "exact", "f1", "present", "summary"
TASKS: Mapping[str, str] = {
    **{"T1.1": NDCG, "T1.2": NDCG},  # retrieval and ranking
    **{"T2.1": PAIRS, "T2.2": PAIRS},  # sequencing
    **{"T3.1": EXACT, "T3.2": EXACT},  # questions answered from evidence
    **{"T4.1": SUMMARY, "T4.2": SUMMARY},  # summaries
    **{"T5.1": F1, "T5.2": F1},  # attribution
    **{"T6.1": PRESENT, "T6.2": F1, "T6.3": PAIRS},  # clustering and counting
    **{"T7.1": F1, "T7.2": F1, "T7.3": F1},  # consistency
    **{"T8.1": PRESENT, "T8.2": PRESENT, "T8.3": PRESENT},  # structured and numeric reasoning
    **{"T9.1": F1, "T9.2": F1},  # versions and code
    **{"T10.1": PRESENT, "T10.2": PRESENT},  # rules from examples
    **{"T11.1": EXACT, "T11.2": EXACT},  # dialogue memory
}
"""Metric of each of the 25 secondary tasks, by the code that the task's label begins with."""

SCORE = "lbp"
"""Metric name of a score as the benchmark defines it."""

SCORE_ROUGE = "lbp_rouge_t4"
"""Metric name of a score in which summaries (T4) are scored by ROUGE-L alone, without the embedding model."""


def is_summary(task: str) -> bool:
    """Return whether a task asks for a summary, whose full score needs the embedding model."""
    return TASKS[task] == SUMMARY
