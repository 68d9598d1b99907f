"""What the thesis itself asserts of experiments 1-9 on the tiny pair, training seeds being the units."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed, judge, pick, untestable

SIDES = {"rope": "RoPE", "drope": "DroPE"}
PARTS = {"mlp": "the MLP", "attention": "attention", "both": "both parts"}
THRESHOLD = 5.0  # times the mean, the source's
SPIKE = 2.0  # times the norm of later tokens, the source's
TENTH = 0.1
SINK = 30.0  # percent, the threshold of the source


def thesis_lab_massive_values(lab_massive: pd.DataFrame) -> Verdict:
    """At the source's threshold no query, key or value dimension of the tiny pair is massive, in any training seed.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_massive[lab_massive["threshold"] == THRESHOLD]
    most = {name: float(rows[f"{side}_most"].sum()) for side, name in SIDES.items()}
    return judge(
        all(value == 0 for value in most.values()),
        f"At {THRESHOLD:g} times the mean the most of {int(rows['seeds'].max())} seeds, summed over queries, keys and "
        f"values, is {most['RoPE']:g} in RoPE and {most['DroPE']:g} in DroPE.",
        recomputed=f"{most['RoPE']:g} and {most['DroPE']:g}",
        n=int(rows["seeds"].max()),
    )


def thesis_lab_sinks(lab_experiments: pd.DataFrame) -> list[Verdict]:
    """At least one head attends to the first token with 0.3 or more, where even attention gives far less.

    Source: thesis, The same measurements on an open pair.
    """
    rate, even = (pick(lab_experiments, quantity=name) for name in ("sink_rate", "even_attention"))
    return [
        judge(
            bool(rate[f"{side}_least"] > 0 and even[f"{side}_most"] < SINK),
            f"{rate[side]:.1f} % of {name}'s heads are sinks, {rate[f'{side}_least']:.1f} to "
            f"{rate[f'{side}_most']:.1f} % over seeds; a head that attends evenly scores {even[side]:.1f} %.",
            otherwise="not supported" if rate[f"{side}_most"] > 0 else "contradicted",
            recomputed=f"{rate[side]:.1f} %",
            n=int(rate["seeds"]),
            key=side,
            statement=f"In every training seed of {name} at least one head of the tiny pair is a sink beyond the null.",
        )
        for side, name in SIDES.items()
    ]


def thesis_lab_no_spike(lab_experiments: pd.DataFrame) -> Verdict:
    """The first token's norm is after no layer more than twice that of later tokens, in any seed of either model.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_experiments, quantity="largest_first_norm")
    most = {name: float(row[f"{side}_most"]) for side, name in SIDES.items()}
    return judge(
        max(most.values()) <= SPIKE,
        f"The largest ratio over layers and seeds is {most['RoPE']:.2f} in RoPE and {most['DroPE']:.2f} in DroPE; "
        f"Llama-2-7B has {row['reported_rope']:.0f} and {row['reported_drope']:.0f}.",
        reported=f"{row['reported_rope']:.0f} and {row['reported_drope']:.0f}",
        recomputed=f"{most['RoPE']:.2f} and {most['DroPE']:.2f}",
        n=int(row["seeds"]),
    )


def thesis_lab_layer1(lab_ablation_seeds: pd.DataFrame) -> list[Verdict]:
    """Layer 1 is not the layer of the tiny pair whose ablation costs most.

    Source: thesis, The same measurements on an open pair.
    """
    found = []
    for part, words in PARTS.items():
        rows = lab_ablation_seeds[lab_ablation_seeds["ablation"] == part]
        first = int((rows["costliest_layer"] == 1).sum())
        layers = ", ".join(str(layer) for layer in sorted(rows["costliest_layer"].unique()))
        found.append(
            judge(
                first == 0,
                f"Layer 1 costs most in {first} of {len(rows)} models; the costliest are layers {layers}, with "
                f"{rows['largest'].min():.2f} to {rows['largest'].max():.2f} nats against {rows['layer1'].min():.2f} "
                f"to {rows['layer1'].max():.2f} in layer 1.",
                otherwise="contradicted" if first == len(rows) else "not supported",
                recomputed=f"{first} of {len(rows)}",
                n=len(rows),
                key=part,
                statement=f"In no model and seed of the tiny pair is layer 1 the one where losing {words} costs most.",
            )
        )
    return found


def thesis_lab_largest_dimensions(lab_experiments: pd.DataFrame) -> list[Verdict]:
    """The DroPE model of the tiny pair depends less on the largest dimension of each head than its RoPE model.

    Source: thesis, The same measurements on an open pair.
    """
    words = {
        "largest_minus_random": "in the likelihood of text, less random dimensions",
        "largest_minus_matched": "in the likelihood of text, less dimensions of equal norm",
        "contextual_degradation": "in contextual tasks",
        "passkey_degradation": "in passkey retrieval",
    }
    return [
        _compared(
            pick(lab_experiments, quantity=name),
            -1,
            key=name,
            statement=f"DroPE of the tiny pair depends less on the largest dimension of each head than RoPE, {word}.",
        )
        for name, word in words.items()
    ]


def thesis_lab_layer1_share(lab_experiments: pd.DataFrame) -> Verdict:
    """Attention writes more of layer 1's norm in the tiny DroPE model than in the RoPE model, as in Llama-2-7B.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_experiments, quantity="layer1_share")
    reported = f"{row['reported_rope']:.1f} and {row['reported_drope']:.1f} %"
    return _compared(row, 1, reported=reported)


def thesis_lab_first_values(lab_experiments: pd.DataFrame) -> list[Verdict]:
    """Without the first token's values the tiny pair loses less than a tenth of what Llama-2-7B is reported to lose.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_experiments, quantity="bos_value_all")
    return [
        judge(
            bool(row[f"{side}_most"] < TENTH * row[f"reported_{side}"]),
            f"{row[side]:.3f} nats a token in {name}, {row[f'{side}_least']:.3f} to {row[f'{side}_most']:.3f} over "
            f"seeds; reported {row[f'reported_{side}']:.2f}.",
            reported=f"{row[f'reported_{side}']:.2f} nats",
            recomputed=f"{row[side]:.3f} nats",
            n=int(row["seeds"]),
            key=side,
            statement=f"Zeroing the first token's values in all layers costs the tiny {name} model less than a tenth "
            "of what is reported of Llama-2-7B, in every training seed.",
        )
        for side, name in SIDES.items()
    ]


def thesis_lab_directions(lab_directions: pd.DataFrame) -> Verdict:
    """Fewer than half of the reported directions of DroPE against RoPE that can be measured appear in the tiny pair.

    Source: thesis, The same measurements on an open pair.
    """
    counts = lab_directions.set_index("what")["count"]
    if counts["decided"] == 0:
        return untestable("No reported direction can be measured: at least two training seeds of both models would do.")
    return judge(
        bool(2 * counts["yes"] < counts["decided"]),
        f"Of {counts['decided']} measurable ones {counts['yes']} appear, {counts['opposite']} are opposite and "
        f"{counts['no']} have an interval over {counts['seeds']} seeds that holds zero; {counts['not measurable']} "
        "more are not measurable at this size.",
        recomputed=f"{counts['yes']} of {counts['decided']}",
        n=int(counts["decided"]),
    )


def _difference(row: pd.Series) -> str:
    """The measured values, their difference and its interval, in the row's own digits."""
    digits = int(row["digits"])
    unit = {"percent": " %", "nats a token": " nats"}.get(str(row["unit"]), "")
    low, high = (f"{row[f'difference_{end}']:.{digits}f}" for end in ("low", "high"))
    return (
        f"RoPE {row['rope']:.{digits}f}, DroPE {row['drope']:.{digits}f}{unit}; difference "
        f"{row['difference']:.{digits}f} (95 % interval {low} to {high}, n = {int(row['seeds'])} seeds)."
    )


def _compared(row: pd.Series, sign: int, *, reported: str = "", key: str = "", statement: str = "") -> Verdict:
    """Whether DroPE is higher (sign 1) or lower (-1) than RoPE, by the interval over training seeds."""
    if pd.isna(row["difference_low"]):
        return untestable(
            f"{int(row['seeds'])} training seeds have a value of both models ({row['note']}); two would do.",
            reported=reported,
            key=key,
            statement=statement,
        )
    return directed(
        float(row["difference"]),
        (float(row["difference_low"]), float(row["difference_high"])),
        sign,
        _difference(row) + (f" Reported: {reported}." if reported else ""),
        reported=reported,
        recomputed=f"difference {row['difference']:.{int(row['digits'])}f}",
        n=int(row["seeds"]),
        key=key,
        statement=statement,
    )
