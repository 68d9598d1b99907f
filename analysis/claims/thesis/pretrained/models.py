"""Claims of the thesis on the pretrained models that it measured itself, judged from the measurements."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import rows_where
from analysis.claims.thesis._open import left_open
from boundpaper.claims import Verdict, claim, directed, judge, pick, untestable

COMPARED = {"ap_overall": "overall plasticity", "ap_drop": "drop of plasticity", "plane_var": "variance in the plane"}
OTHER_COLUMNS = ("reported", "small")
FEW = 10  # number of key heads below which a bootstrap interval over them is unreliable
NORMAL = 1.96  # standard deviations within which 95 % of normal differences lie
DRAWN_METRICS = {
    "ap_overall": "overall plasticity",
    "ap_first_20": "plasticity of the first fifth",
    "ap_last_20": "plasticity of the last fifth",
    "ap_drop": "the drop of plasticity",
}
LAMBDA = 5.0  # multiple of the layer's mean norm above which the source counts a value as massive


@claim("thesis, Pretrained models")
def thesis_pretrained_falls(pretrained_geometry: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity of a pretrained model falls from the first to the last fifth of the context."""
    for model, row in _measured_rows(pretrained_geometry, "ap_drop"):
        statement = f"Plasticity of {row['label']} falls from the first to the last fifth of the context."
        yield (
            _too_few_key_heads(row, model, statement)
            or by_interval(
                row,
                1,
                f"the first minus the last fifth is {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over "
                f"{int(row['n'])} key heads at {int(row['context'])} tokens",
                columns=("value", "low", "high"),
                key=model,
                statement=statement,
            )
        )


@claim("thesis, Pretrained models")
def thesis_pretrained_one_position(pretrained_one_position: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity of a pretrained model falls along the context even if queries are rotated as at one position."""
    for _, row in pretrained_one_position.iterrows():
        model = str(row["model"])
        length = f"{int(row['tokens']) // 1024}K tokens"
        statement = f"At one position, plasticity of {row['display_name']} falls along {length} of {row['texts']}."
        fall = row.rename({"fall": "value", "key_heads": "n"})
        yield _too_few_key_heads(fall, model, statement) or by_interval(
            row,
            1,
            f"from the second quarter to the last it falls by {row['fall']:.3f} [{row['low']:.3f}, {row['high']:.3f}] "
            f"over {int(row['key_heads'])} key heads",
            columns=("fall", "low", "high"),
            n="key_heads",
            key=model,
            statement=statement,
        )


@claim("thesis, Pretrained models")
def thesis_pretrained_drift(pretrained_geometry: pd.DataFrame) -> Iterator[Verdict]:
    """On the drift axis, a model's queries correlate with position more than in the lowest of the reported models."""
    for model, row in _measured_rows(pretrained_geometry, "r_q_a"):
        lowest_reported = float(pick(pretrained_geometry, metric="r_q_a", column="reported")["low"])
        statement = (
            f"Queries of {row['label']} go with position on their axis of drift more than in the reported model with "
            "the lowest such correlation."
        )
        yield (
            _too_few_key_heads(row, model, statement)
            or by_interval(
                row,
                1,
                f"the mean correlation is {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over "
                f"{int(row['n'])} key heads, and the least of the reported models is {lowest_reported:.3f}",
                columns=("value", "low", "high"),
                null=lowest_reported,
                key=model,
                statement=statement,
            )
        )


@claim("thesis, Pretrained models")
def thesis_pretrained_in_range(pretrained_geometry: pd.DataFrame) -> Iterator[Verdict]:
    """Metrics of a pretrained model lie within the range of the reported models."""
    for metric, words in COMPARED.items():
        reported_range = pick(pretrained_geometry, metric=metric, column="reported")
        low, high = float(reported_range["low"]), float(reported_range["high"])
        for model, row in _measured_rows(pretrained_geometry, metric):
            in_range = low <= float(row["low"]) and float(row["high"]) <= high
            is_outside = float(row["high"]) < low or float(row["low"]) > high
            statement = f"The {words} of {row['label']} lies within the range of the reported models."
            verdict = _too_few_key_heads(row, f"{model}_{metric}", statement) or (
                judge(
                    in_range,
                    f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over {int(row['n'])} key heads; the "
                    f"{int(reported_range['n'])} reported models reach from {low:.3f} to {high:.3f}",
                    otherwise="contradicted" if is_outside else "not supported",
                    recomputed=float(row["value"]),
                    n=int(row["n"]),
                    key=f"{model}_{metric}",
                    statement=statement,
                )
            )
            yield left_open(verdict) if metric.startswith("ap_") else verdict


@claim("thesis, Pretrained models")
def thesis_pretrained_massive(pretrained_massive: pd.DataFrame) -> Iterator[Verdict]:
    """A pretrained model's queries have more massive values than its keys, and its value vectors fewer than either."""
    rows = rows_where(pretrained_massive, threshold=LAMBDA, where="pre")
    for model, tensors in rows.groupby("model", sort=False):
        query, key, value = (pick(tensors, tensor=tensor) for tensor in ("query", "key", "value"))
        name, n = str(query["display_name"]), int(query["texts"])
        phrase = (
            f"queries have {_count_in_words(query)}, keys {_count_in_words(key)}, values {_count_in_words(value)} at "
            f"{LAMBDA:g} times the mean, over {n} texts"
        )
        rarer = query if query["count"] < key["count"] else key
        for word, larger, smaller, statement in (
            ("queries", query, key, f"{name} has more massive values in its queries than in its keys."),
            ("values", rarer, value, f"{name} has fewer massive values in its values than in queries and in keys."),
        ):
            yield judge(
                float(larger["low"]) > float(smaller["high"]),
                phrase,
                otherwise="contradicted" if float(smaller["low"]) > float(larger["high"]) else "not supported",
                recomputed=float(larger["count"]) - float(smaller["count"]),
                n=n,
                key=f"{model}_{word}",
                statement=statement,
            )


@claim("thesis, Pretrained models")
def thesis_pretrained_noise(pretrained_noise: pd.DataFrame) -> Iterator[Verdict]:
    """Two captures of a pretrained model differ less than the source's two captures of one network."""
    rows = pretrained_noise[
        pretrained_noise["metric"].isin(list(COMPARED)) & pretrained_noise["twin_difference"].notna()
    ]
    for _, row in rows.iterrows():
        low, high = (2**0.5 * float(row[end]) for end in ("noise_low", "noise_high"))
        reported = float(row["twin_difference"])
        yield judge(
            high < reported,
            f"the standard deviation of the difference is {row['twice_sd']:.4f} [{low:.4f}, {high:.4f}] from "
            f"{int(row['splits'])} splits of {int(row['documents'])} documents, and the reported pair differs by "
            f"{reported:.4f}",
            otherwise="contradicted" if low > reported else "not supported",
            recomputed=float(row["twice_sd"]),
            n=int(row["documents"]),
            key=f"{row['model']}_{row['metric']}",
            statement=(
                f"In the {COMPARED[str(row['metric'])]}, two captures of {row['display_name']} over other documents "
                "differ less than the source's two captures of one network."
            ),
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_draws(pretrained_draws: pd.DataFrame) -> Iterator[Verdict]:
    """The random choice of heads may explain the gap in drop between the source's two captures, not that in level."""
    for _, row in pretrained_draws[pretrained_draws["of"] == "source"].iterrows():
        key = f"{row['model']}_{row['metric']}"
        first_draw, second_draw, head_count = int(row["drawn"]), int(row["drawn_other"]), int(row["heads"])
        is_drop = row["metric"] == "ap_drop"
        statement = (
            f"The source's two captures of one network differ in {DRAWN_METRICS[str(row['metric'])]} by "
            f"{'no more' if is_drop else 'more'} than 95 % of pairs of draws of {first_draw} and {second_draw} of "
            f"{head_count} heads, if heads differ as those of {row['display_name']}."
        )
        if int(row["key_heads"]) < FEW:
            reason = (
                f"{int(row['key_heads'])} key heads are too few for an interval; a model with more would decide it."
            )
            yield untestable(reason, key=key, statement=statement)
            continue
        reported = float(row["twin_difference"])
        low, high = (NORMAL * float(row[end]) for end in ("twice_low", "twice_high"))
        yield judge(
            reported < low if is_drop else reported > high,
            f"95 % of such differences are within {low:.4f} to {high:.4f} (ends of the spread's interval, over "
            f"{int(row['key_heads'])} key heads), and {reported:.4f} is reported",
            otherwise="contradicted" if (reported > high if is_drop else reported < low) else "not supported",
            recomputed=NORMAL * float(row["twice_sd"]),
            n=int(row["key_heads"]),
            key=key,
            statement=statement,
        )


def _too_few_key_heads(row: pd.Series, key: str, statement: str) -> Verdict | None:
    """Return a verdict "not testable" if there are too few key heads for an interval, else None."""
    if int(row["n"]) >= FEW:
        return None
    return untestable(
        f"{int(row['n'])} key heads: an interval from so few resampled units does not keep its level; the value is "
        f"{row['value']:.3f}, and several captures of other documents would give one",
        key=key,
        statement=statement,
    )


def _count_in_words(row: pd.Series) -> str:
    return f"{row['count']:.1f} [{row['low']:.1f}, {row['high']:.1f}]"


def _measured_rows(geometry: pd.DataFrame, metric: str) -> list[tuple[str, pd.Series]]:
    rows = geometry[(geometry["metric"] == metric) & ~geometry["column"].isin(OTHER_COLUMNS)]
    return [(str(row["column"]), row) for _, row in rows.iterrows()]


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_layer1(pretrained_experiments: pd.DataFrame) -> Iterator[Verdict]:
    """With rotation, attention writes more of what layer 1 adds in pretrained models than in the report's Llama."""
    rows = pretrained_experiments[pretrained_experiments["quantity"] == "layer1_share"].set_index("column")
    reported = float(rows["value"]["reported"])
    for model, row in rows.drop(index=["reported", "small"]).iterrows():
        key = str(model)
        statement = f"Attention writes more of what layer 1 adds in {row['name']} than in the rotary Llama-2-7B."
        if pd.isna(row["low"]):
            yield untestable(f"{row['note']}: texts with a spread would decide it.", key=key, statement=statement)
            continue
        yield directed(
            float(row["value"]) - reported,
            (float(row["low"]) - reported, float(row["high"]) - reported),
            1,
            f"{row['value']:.1f} % [{row['low']:.1f}, {row['high']:.1f}] over {int(row['n'])} texts, where "
            f"{reported:.1f} % are reported with rotation.",
            reported=f"{reported:.1f} %",
            recomputed=f"{row['value']:.1f} %, {row['value'] - reported:+.1f}",
            n=int(row["n"]),
            key=key,
            statement=statement,
        )
