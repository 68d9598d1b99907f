"""Slips, and only slips, are found in statements about several rows, about plotted values, or about a series."""

import pytest

from boundpaper.audit import checks, markdown

SEEDS = """# Seeds

| Seed | Height | Slope | Day mass | Night mass |
|--|--:|--:|--:|--:|
| pine2-3b | 30.2 | 0.071 | 0.745 | 0.534 |
| pine2-8b | 37.8 | 0.082 | 0.741 | 0.540 |
| pine2-14b | 40.1 | 0.068 | 0.725 | 0.541 |
| oak3-4b | 31.3 | 0.186 | 0.620 | 0.510 |
| oak3-8b | 33.4 | 0.178 | 0.611 | 0.503 |
| elm-3b | 15.7 | 0.230 | 0.488 | 0.402 |

"""
WATER = """# Water

| What | Wet | Dry | Ratio |
|--|--:|--:|--:|
| Stem norm | 45.5 | 6586 | 145x |
| Root norm | 52.0 | 5514 | 106x |

| Pot | Flow | Slope |
|--|--:|--:|
| Basil | 4.12x | 0.0018 |
| Mint leaf | 3.39x | 0.0003 |

"""
DECILES = "| Seed | 0-10 cm | 10-20 cm | 20-30 cm | 30-40 cm | 40-50 cm |\n|--|--:|--:|--:|--:|--:|\n" + "".join(
    f"| {name} | {cells} |\n"
    for name, cells in (
        ("pine2-3b", "0.91 | 0.84 | 0.77 | 0.71 | 0.69"),
        ("pine2-8b", "0.95 | 0.88 | 0.79 | 0.84 | 0.70"),
        ("oak3-4b", "0.90 | 0.81 | 0.74 | 0.70 | 0.61"),
    )
)
LAYERS = "| Layer | R2_pos |\n|--|--:|\n| 15 | 0.11 |\n| 16 | 0.023 |\n| 17 | 0.051 |\n| 18 | 0.024 |\n\n"


def axis(xlabel, ylabel, *series):
    plots = "".join(f"\\addplot coordinates {{{points}}};\n" for _, points in series)
    names = ",".join(name for name, _ in series)
    return f"\n```latex\n\\begin{{axis}}[xlabel={{{xlabel}}}, ylabel={{{ylabel}}}]\n{plots}\\legend{{{names}}}\n```\n"


def points(*values):
    return " ".join(f"({x},{y})" for x, y in enumerate(values))


LOSSES = "# Lost\n\n| Seed | Soil | Task | Loss |\n|--|--|--|--:|\n" + "".join(
    f"| {seed} | {soil} | {task} | {loss} |\n"
    for seed, soil, task, loss in (
        ("Pine", "wet", "grow", "35.8%"), ("Pine", "wet", "root", "13.3%"), ("Pine", "dry", "seed", "88.6%"),
        ("Oak", "wet", "grow", "12.4%"), ("Oak", "wet", "root", "8.2%"), ("Oak", "dry", "seed", "50.3%"),
    )
)  # fmt: skip
MEANS = "# Shares of water\n\n| Layer | Pine Water % | Oak Water % |\n|--|--:|--:|\n| 0 | 46.9% | 3.3% |\n"
MEANS += "| 1-4 avg | 34.7% | 35.2% |\n"


def water_figure(*series):
    return axis("Layer", "Water (%)", *series)


RISING = points(46.9, 34.9, 35.1, 34.9, 34.8)
OAK = points(3.3, 35.1, 35.3, 35.2, 35.2)
BARS = "(grow,-27.1) (root,-21.9) (seed,-88.6)"
SUMS = ["| Run | Rows | |a_k| | Left | Gain |", "|--|--:|--:|--:|--:|"]
SUMS += [f"| r{i} | {9 * i}.5 | {i} | {4 * i}.2 | {5 * i + (i == 3)}.3 |" for i in range(1, 8)]
SLIPS = [
    ("rows", SEEDS + "The height of Pine2 is 37-40.", "37-40", "30.2"),
    ("rows", WATER + "The Stem/Root norms are about 100x larger.", "100x", "145x"),
    ("rows", WATER + "Both are equal in norm of Stem/Root (~145x).", "145x", "106x"),
    ("same-quantity", LOSSES + axis(
        "Task", "Loss (%)", ("Pine", BARS), ("Oak", "(grow,7.7) (root,-25) (seed,-50.3)"),
    ), "4 of 6 cells", "other sign"),
    ("section-number", "# P\n\n" + "\n\n".join(f"## 5.{i} A" for i in (1, 2, 5, 3, 4)), "5.3 A", "after '5.5 A'"),
    ("relation", "\n".join(SUMS), "Gain = 16.3", "6 of 7"),
    ("relation", "\n".join(["| Day | a | b | a+b |", "|--|--|--|--|", "| 1 | 12 | 31 | 43 |", "| 2 | 17 | 45 | 82 |"]),
     "a+b = 82", "1 of 2"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "printed", "why"), SLIPS, ids=range(len(SLIPS)))
def test_a_slip_is_the_one_finding(kind, text, printed, why):
    findings = checks.audit([markdown.read(text, "paper.md")])
    assert [finding.kind for finding in findings] == [kind], [str(finding) for finding in findings]
    assert printed in findings[0].printed
    assert why in findings[0].explanation


CORRECT = [
    3 * "> # 1 pot failed to grow!\n\nAgain.\n\n",
    "- Table 1: Pots (short)\n- Table 2: Beans\n\nLater:\n\n- Table 2: Beans of ours\n- Table 1: Pots of ours\n",
    SEEDS + "The height of Pine2 is 30-40, of Pine2 (8B/14B) 37-40, of seeds 37-40, and the slope of Oak3 0.17-0.19.",
    SEEDS + "By Slope, Pine2 < Oak3 < Elm. The order of seeds is ours. Height rises from Pine2 to Oak3 to Elm.",
    SEEDS + "Pine2 seeds (3B/8B) differ by < 8 in each column; Oak3 seeds differ by 3 in Height.",
    WATER + "The Stem norm is 145x larger, the Root norm 106x, Stem/Root norms over 100x, and 4x as many are wet.",
    WATER + "Stem/Root norms are 145x and 106x larger. Basil is similar to Mint leaf in taste, and has a similar name.",
    LAYERS + "Layers 16-18 are flat (R2_pos < 0.06); Layer 16 has an R2_pos of 0.023. Layers 16 and 18: R2_pos ≈ 0.02.",
    MEANS + water_figure(("Pine", points(46.9, 34.2, 35.1, 34.7, 34.7)), ("Oak", OAK)),
    MEANS + water_figure(("Pine", points(12.1, 34.2, 35.1, 34.7, 34.8))),
    water_figure(("Pine", points(*[1.5] * 15)), ("Oak", points(*range(15)))),
    LOSSES + axis("Task", "Height (cm)", ("Pine", BARS)),
    "| A | |b| |\n|--|--|\n| x | 1 |\n| | |c| |\n",
]  # fmt: skip


@pytest.mark.parametrize("text", CORRECT, ids=range(len(CORRECT)))
def test_correct_text_has_no_findings(text):
    assert [str(finding) for finding in checks.audit([markdown.read(text, "paper.md")])] == []
