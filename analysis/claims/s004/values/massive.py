"""Document 004, Experiment 1: claims on the number of massive values, and where they are."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import min_to_max, numbers_of
from analysis.vocabulary import PAIR
from boundpaper.claims import Verdict, about, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed

TENSORS = ("query", "key", "value")


@claim("004, 1.1 Massive Values")
def c004_massive_threshold(drope_stated: pd.DataFrame) -> Verdict:
    """A value is massive above five times the mean norm, both by the words and by the formula."""
    statements = ("s1_1_threshold", "s1_1_threshold_formula", "s2_1_threshold", "s3_1_threshold")
    values = [quote(drope_stated, statement=statement).number for statement in statements]
    return judge(
        len(set(values)) == 1,
        f"Section 1.1 in words and formula, Sections 2.1 and 3.1 give {', '.join(f'{value:g}' for value in values)}.",
        reported=quote(drope_stated, statement=statements[0]).printed,
        recomputed=f"{values[0]:g}",
        n=len(values),
    )


@claim("004, The Story So Far and 1.1 Massive Values")
def c004_massive_from_rope(massive_counts: pd.DataFrame) -> Verdict:
    """The massive values come from the rotary embedding."""
    remaining = {
        row["tensor"]: 100 + row["change"] for _, row in massive_counts[massive_counts["rope_sd"].notna()].iterrows()
    }
    return untestable(
        f"After the rotation is removed and the model recalibrated, {remaining['query']:.0f} % of the massive query "
        f"values and {remaining['key']:.0f} % of the massive key values remain, but the weights were trained with "
        "rotation; a model trained without rotary positions from the start would decide."
    )


@claim("004, 2.1 Method and Figure 1")
def c004_massive_settings(
    drope_stated: pd.DataFrame, drope_captions: pd.DataFrame, drope_protocols: pd.DataFrame
) -> Verdict:
    """The comparison of counts and its error bars rest on the same ten texts."""
    statement = quote(drope_stated, statement="s2_1_texts")
    text_counts = [
        quote(drope_captions, statement="fig_1_samples").number,
        float(str(pick(drope_protocols, section="2 (Table 2.2)")["items"]).split()[0]),
    ]
    return judge(
        all(value == statement.number for value in text_counts),
        f"Figure 1 and the script give {', '.join(f'{value:g}' for value in text_counts)} texts.",
        reported=statement.printed,
        n=len(text_counts),
    )


@claim("004, 2.1 Method and 2.3 Layer 1 Anomaly")
def c004_layers_same_run(drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """The counts by layer come from the run that the method describes, on ten texts."""
    total_run, layer_run = (pick(drope_protocols, section=section) for section in ("2 (Table 2.2)", "2.3 (layers)"))
    statement = quote(drope_stated, statement="s2_1_texts")
    return judge(
        total_run["items"] == layer_run["items"] and total_run["precision"] == layer_run["precision"],
        f"By the scripts the totals are of {total_run['items']} in {total_run['precision']} ({total_run['note']}), the "
        f"counts by layer of {layer_run['items']} in {layer_run['precision']} ({layer_run['note']}).",
        reported=statement.printed,
        recomputed=str(layer_run["items"]),
    )


@claim("004, One Weird Paradox and 2.2 Results")
def c004_massive_fewer(massive_counts: pd.DataFrame, massive_tests: pd.DataFrame) -> Iterator[Verdict]:
    """DroPE still has massive values, but fewer of them in queries and keys."""
    for tensor in ("query", "key"):
        test = pick(massive_tests, comparison=tensor)
        runs = massive_counts[massive_counts["tensor"] == tensor]
        listing = " and ".join(f"{row['change']:.1f} % ({row['texts']} texts)" for _, row in runs.iterrows())
        yield judge(
            bool(test["p_adjusted"] < 0.05 and test["estimate"] < 0 and (runs["drope_mean"] > 0).all()),
            f"Changes of {listing}; Welch's t over texts from printed means and deviations, Holm over three tensors.",
            otherwise="not supported",
            recomputed=f"{test['estimate']:.1f} values",
            **numbers_of(test, "n", "p_value", "p_adjusted", "ci"),
            key=tensor,
            statement=f"DroPE still has massive values in the {tensor} tensors, and fewer than RoPE.",
        )


@claim("004, 2.2 Results")
def c004_value_count_rises(drope_massive_counts: pd.DataFrame, massive_tests: pd.DataFrame) -> Verdict:
    """The count in the value tensors rises by 1.5 percent."""
    test = pick(massive_tests, comparison="value")
    return by_interval(
        test,
        1,
        f"A difference of {test['estimate']:.1f} values between models over {test['n'] // 2} texts each, Welch's t.",
        p=("p_value",),
        reported=quote(drope_massive_counts, tensor="value", positional="DroPE", metric="change_from_rope").printed,
        recomputed=f"{test['estimate']:.1f} values",
    )


@claim("004, 2.3 Layer 1 Anomaly")
def c004_layer1_times(drope_layer1_massive: pd.DataFrame, massive_layer_summary: pd.DataFrame) -> Verdict:
    """The massive query values of layer 1 grow by 37 times."""
    query = pick(massive_layer_summary, tensor="query")
    return compare(
        quote(drope_layer1_massive, layers="1", positional="DroPE", metric="change_from_rope"),
        float(query["layer1_increase"]),
        reason=f"{query['layer1_drope']:.1f} against {query['layer1_rope']:.1f}: more by "
        f"{query['layer1_increase']:.1f} times the count of RoPE, {query['layer1_ratio']:.1f} times as many.",
    )


@claim("004, One Weird Paradox")
def c004_layer1_tensors(drope_stated: pd.DataFrame, massive_layer_summary: pd.DataFrame) -> Verdict:
    """Layer 1 of DroPE has 37 times more massive values than layer 1 of RoPE, in every tensor."""
    ratios = {tensor: float(pick(massive_layer_summary, tensor=tensor)["layer1_ratio"]) for tensor in (*TENSORS, "all")}
    reported = quote(drope_stated, statement="paradox_layer1_ratio")
    fitting_tensors = [tensor for tensor, ratio in ratios.items() if abs(ratio - 1 - reported.number) <= 0.5]
    return judge(
        len(fitting_tensors) == len(ratios),
        f"The statement names no tensor and holds for {listed(fitting_tensors)}: DroPE has {ratios['query']:.1f} times "
        f"as many among queries, {ratios['key']:.1f} times among keys, {ratios['value']:.1f} among values and "
        f"{ratios['all']:.1f} in all.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{ratios['all']:.1f} in all",
        n=len(TENSORS),
    )


@claim("004, 2.3 Layer 1 Anomaly")
def c004_later_layers(drope_layer1_massive: pd.DataFrame, massive_layer_summary: pd.DataFrame) -> Iterator[Verdict]:
    """In each of layers 2 to 31 DroPE has about 20 massive values where RoPE has about 50, a fall of 60 percent."""
    query = pick(massive_layer_summary, tensor="query")
    for model in PAIR:
        name = model.lower()
        reported = quote(drope_layer1_massive, layers="2-31", positional=model, metric="count")
        mean = float(query[f"later_mean_{name}"])
        yield about(
            reported,
            mean,
            reason=f"Queries, {query['later_layers']} layers: mean {mean:.1f}, from {query[f'later_low_{name}']:.1f} "
            f"to {query[f'later_high_{name}']:.1f}.",
            n=int(query["later_layers"]),
            key=model,
            statement=f"Each of layers 2 to 31 of {model} has {reported.printed.split()[0]} massive values.",
        )
    change = quote(drope_layer1_massive, layers="2-31", positional="DroPE", metric="change_from_rope")
    yield compare(
        change,
        float(query["later_change"]),
        reason=f"Summed over {query['later_layers']} layers the counts of queries fall by {-query['later_change']:.1f} "
        f"%, by {abs(change.number):.0f} % or more in only {query['later_layers_fallen_by_stated']} of them, and those "
        f"of keys by {-pick(massive_layer_summary, tensor='key')['later_change']:.1f} %.",
        n=int(query["later_layers"]),
        key="change",
        statement="The later layers have 60 percent fewer massive values in DroPE.",
    )


@claim("004, Figure 6")
def c004_only_layer(massive_layer_summary: pd.DataFrame) -> Iterator[Verdict]:
    """Layer 1 is the only layer where DroPE has more massive values than RoPE."""
    for tensor in TENSORS:
        row = pick(massive_layer_summary, tensor=tensor)
        layers = [int(layer) for layer in str(row["layers_with_more"]).split()]
        yield judge(
            layers == [1],
            f"DroPE has more {tensor} ones in layer{'s' if len(layers) > 1 else ''} {', '.join(map(str, layers))}.",
            reported="only",
            recomputed=f"{len(layers)} layer{'s' if len(layers) > 1 else ''}",
            n=int(row["later_layers"]) + 2,
            key=tensor,
            statement=f"Layer 1 is the only layer where DroPE exceeds RoPE in massive {tensor} values.",
        )


@claim("004, 2.3 Layer 1 Anomaly")
def c004_not_uniform(massive_layers: pd.DataFrame) -> Verdict:
    """The reduction is not uniform across layers: layer 1 goes the other way."""
    query_changes = massive_layers[massive_layers["tensor"] == "query"].set_index("layer")["change"]
    other_changes = query_changes.drop(index=1)
    return judge(
        bool(query_changes[1] > 0 and (other_changes < 0).all()),
        f"Massive query values change by {query_changes[1]:+.0f} % in layer 1 and by "
        f"{min_to_max(other_changes, '.0f')} % in the other layers.",
        n=len(query_changes),
    )


@claim("004, 15 Publication Figures, Figure B", failure="number")
def c004_figure_b_caption(drope_figures: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """By Figure B, layer 1 has 37 times more massive values in DroPE."""
    counts = {
        tensor: [quote(drope_figures, figure="B", series=model, x=tensor, metric="count").number for model in PAIR]
        for tensor in ("Query", "Key", "Value")
    }
    reported = quote(drope_captions, statement="fig_b_layer1_ratio")
    listing = ", ".join(f"{drope:.0f} against {rope:.0f} ({tensor})" for tensor, (rope, drope) in counts.items())
    fitting_tensors = [
        tensor for tensor, (rope, drope) in counts.items() if rope and abs(drope / rope - reported.number) <= 0.5
    ]
    totals = [sum(pair[i] for pair in counts.values()) for i in (0, 1)]
    return judge(
        len(fitting_tensors) == len(counts),
        f"It draws {listing}, together {totals[1] / totals[0]:.0f} times as many: the ratio is that of one tensor out "
        f"of {len(counts)}, from counts that are not those of the text.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{totals[1] / totals[0]:.0f}",
        n=len(counts),
    )
