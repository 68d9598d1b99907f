"""Data shared by tests of claims: families of models, scores, names of deciles, and stated words."""

from claims_cases import rows

DECILES = " ".join(f"d{number}" for number in range(10))


def word(text, number=None):
    """Return a pair for `states`: the printed text, and the number that the text means or None."""
    return text, number


FAMILIES = rows(
    "model family display_name captured_context claimed_context parameters_nominal_b "
    "position_encoding attention layers",
    ("ministral3-3b", "Ministral 3", "M3", 131072, 262144, 3.0, "RoPE", "full", 26),
    ("ministral3-8b", "Ministral 3", "M8", 131072, 262144, 8.0, "RoPE", "full", 34),
    ("qwen3-4b", "Qwen3", "Q4", 131072, 131072, 4.0, "RoPE, YaRN", "full", 36),
    ("qwen3-14b", "Qwen3", "Q14", 131072, 131072, 14.0, "RoPE, YaRN", "full", 40),
    ("llama3.2-3b", "Llama 3", "L3", 131072, 131072, 3.0, "RoPE", "full", 28),
)


def scored(**changed):
    """Return a frame of scores by model, with the columns in `changed` replaced."""
    table = rows(
        "model display_name family lbp ap_drop ap_last_20 ap_overall in_source parameters_nominal_b",
        ("ministral3-8b", "M8", "Ministral 3", 40.0, 0.06, 0.57, 0.70, True, 8.0),
        ("ministral3-3b", "M3", "Ministral 3", 30.0, 0.05, 0.59, 0.72, True, 3.0),
        ("qwen3-14b", "Q14", "Qwen3", 38.0, 0.16, 0.52, 0.65, True, 14.0),
        ("qwen3-4b", "Q4", "Qwen3", 32.0, 0.18, 0.51, 0.64, True, 4.0),
        ("llama3.2-3b", "L3", "Llama 3", 20.0, 0.23, 0.45, 0.60, True, 3.0),
        ("llama3.1-8b", "L8", "Llama 3", 25.0, 0.17, 0.50, 0.62, False, 8.0),
    )
    return table.assign(**changed)
