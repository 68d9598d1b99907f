"""Document 004, Experiment 4: claims on the four tasks under interventions on the first token and on Q and K."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import USABLE, cell_check, min_to_max, pick_each, printed_text, rows_where
from analysis.vocabulary import PAIR
from boundpaper.claims import EQUIVALENT, Verdict, claim, compare, judge, pick, quote
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed, p
from boundpaper.statistics.rounding import Interval

CATEGORIES = {"parametric": ("cities", "sports"), "contextual": ("passkey", "imdb")}
COUNTED = ("passkey", "imdb")  # tasks whose accuracy counts every item


def _mean(frame: pd.DataFrame, model: str, condition: str, category: str) -> float:
    return float(pick(frame, positional=model, condition=condition, category=category)["mean"])


@claim("004, 5.5 Interpretation")
def c004_rope_fails_all_tasks(functional_shares: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """Without the first token's MLP output RoPE's accuracy is 0% on all tasks."""
    rows = rows_where(functional_shares, positional="RoPE", condition="bos_mlp_ablation")
    stated_row = pick(drope_stated, statement="s5_5_rope_tasks")
    zero_tasks = rows[rows["share"] == 0]
    unread_tasks = rows[rows["share"].isna()]
    widest = zero_tasks.sort_values("high").iloc[-1] if len(zero_tasks) else None
    return judge(
        len(zero_tasks) == stated_number(stated_row) == len(rows),
        (
            f"{listed(unread_tasks['task'].tolist())} have no accuracy: the script divides by the answers that it can "
            "read, and a stored zero means that no answer could be read. "
            if len(unread_tasks)
            else ""
        )
        + (
            "None is right on any task."
            if widest is None
            else f"{listed(zero_tasks['task'].tolist())} count every item and give 0%, with {widest['items']} items in "
            f"{widest['task']} up to {widest['high']:.0f}%."
        ),
        otherwise="not supported" if len(zero_tasks) + len(unread_tasks) == len(rows) else "contradicted",
        reported=str(stated_row["printed"]),
        recomputed=f"{len(zero_tasks)} of {len(rows)}",
        n=len(rows),
    )


@claim("004, 5.5 Interpretation")
def c004_no_valid_answers(functional_shares: pd.DataFrame) -> Verdict:
    """The accuracies of 0% come from outputs without a valid yes or no, not from wrong answers."""
    rows = rows_where(functional_shares, positional="RoPE", condition="bos_mlp_ablation", task=("cities", "sports"))
    most_answers = int(rows["n_high"].sum())
    return judge(
        most_answers == 0,
        f"Of {int(rows['items'].sum())} yes/no answers at most {most_answers} could be read as yes or no, by the zero "
        f"that is stored; {'they leave' if most_answers == 0 else 'only the others leave'} the denominator, and the "
        f"printed 0% is {'no measure' if most_answers == 0 else 'a measure'} of knowledge.",
        recomputed=f"{most_answers} of {int(rows['items'].sum())}",
        n=int(rows["items"].sum()),
    )


@claim("004, 5.5 Interpretation")
def c004_rope_cannot_function(functional_shares: pd.DataFrame) -> Verdict:
    """RoPE cannot function without the first token's MLP output, whose information cannot be recovered elsewhere."""
    cells = {
        task: pick(functional_shares, positional="RoPE", condition="combined", task=task)
        for task in ("cities", "sports")
    }
    read_in_words = [
        f"{row['n_low']} to {row['n_high']} of {row['items']} in {task}, {row['share']:.0f}% of them right"
        for task, row in cells.items()
        if pd.notna(row["share"])
    ]
    return judge(
        all(row["right_high"] == 0 for row in cells.values()),
        "With the same output removed and Q and K also disrupted, RoPE gives answers that can be read, "
        f"{listed(read_in_words) if read_in_words else 'none'}. Where it does, the second disruption undoes the first, "
        "or the combined condition did not remove the output.",
        otherwise="not supported",
        reported="0%",
        recomputed=listed([f"{row['share']:.0f}%" for row in cells.values() if pd.notna(row["share"])] or ["0%"]),
        n=sum(int(row["items"]) for row in cells.values()),
    )


@claim("004, 5.5 Interpretation")
def c004_drope_category_means(
    functional_categories: pd.DataFrame, drope_functional: pd.DataFrame, drope_stated: pd.DataFrame
) -> Iterator[Verdict]:
    """Ablation moves DroPE's mean from 65% to 65.5% in parametric and from 19.5% to 18% in contextual tasks."""
    for category, tasks in CATEGORIES.items():
        for condition, name in (("baseline", "baseline"), ("bos_mlp_ablation", "ablated")):
            mean = _mean(functional_categories, "DroPE", condition, category)
            cells = [quote(drope_functional, positional="DroPE", condition=condition, task=task) for task in tasks]
            printed_interval = Interval(
                sum(cell.interval.low for cell in cells) / len(cells),
                sum(cell.interval.high for cell in cells) / len(cells),
            )
            yield compare(
                quote(drope_stated, statement=f"s5_5_drope_{category}_{name}"),
                mean,
                printed_interval,
                reason=f"The mean of the two {category} tasks is {mean:g}% unrounded; the cells print "
                f"{listed([cell.printed for cell in cells])}.",
                key=f"{category}-{name}",
                statement=f"DroPE's mean {category} accuracy, {name}, is that of its two tasks.",
                kind="cell check",
            )


@claim("004, 5.5 Interpretation", failure="control")
def c004_drope_unchanged(functional_tests: pd.DataFrame, bos_mlp_effects: pd.DataFrame) -> Verdict:
    """DroPE's performance is virtually unchanged without the first token's MLP output."""
    rows = [pick(functional_tests, comparison=f"DroPE, {task}, bos_mlp_ablation against baseline") for task in COUNTED]
    smallest_p = min(row["p_value"] for row in rows)
    passkey = rows[COUNTED.index("passkey")]
    exp4 = pick(bos_mlp_effects, experiment=4, positional="DroPE")
    return judge(
        exp4["write_share"] > 50 and smallest_p > 0.05,
        f"Of the tasks that count every item, {listed(list(COUNTED))}, the smallest p is {smallest_p:.2f} (Fisher; the "
        "baselines of the others are of unknown numbers of answers), and the passkey's interval runs from "
        f"{100 * passkey['ci_low']:.0f} to {100 * passkey['ci_high']:+.0f} points; the layer removed holds "
        f"{exp4['write_share']:.1f}% of the token's "
        f"norm{', so that little was taken away' if exp4['write_share'] <= 50 else ''}.",
        otherwise="not supported",
        n=sum(int(row["n"]) for row in rows),
        p_value=float(smallest_p),
    )


@claim("004, 5.5 Interpretation")
def c004_qk_passkey(functional_shares: pd.DataFrame, functional_tests: pd.DataFrame) -> Iterator[Verdict]:
    """Disrupting Q and K destroys passkey retrieval in both models."""
    for model in PAIR:
        before, after = pick_each(
            functional_shares, positional=model, condition=("baseline", "qk_disruption"), task="passkey"
        )
        test = pick(functional_tests, comparison=f"{model}, passkey, qk_disruption against baseline")
        yield by_interval(
            test,
            -1,
            f"{before['count']} of {before['n']} against {after['count']} of {after['n']}: Fisher's "
            f"{p(test['p_value'])}, Holm over {len(functional_tests)} tests {p(test['p_adjusted'])}.",
            p=("p_value", "p_adjusted"),
            reported=f"{before['printed_text']} to {after['printed_text']}",
            recomputed=f"{100 * test['estimate']:.0f} points",
            key=model.lower(),
            statement=f"Disrupting Q and K destroys {model}'s passkey retrieval.",
        )


@claim("004, 5.5 Interpretation")
def c004_drope_parametric_stable(functional_shares: pd.DataFrame, functional_categories: pd.DataFrame) -> Verdict:
    """Disrupting Q and K leaves DroPE's parametric tasks stable and intact."""
    before, after = (
        {
            task: pick(functional_shares, positional="DroPE", condition=condition, task=task)
            for task in ("cities", "sports")
        }
        for condition in ("baseline", "qk_disruption")
    )
    mean_before, mean_after = (
        _mean(functional_categories, "DroPE", condition, "parametric") for condition in ("baseline", "qk_disruption")
    )
    changes = {task: float(after[task]["share"] - before[task]["share"]) for task in after}
    unread_counts = {task: int(row["items"] - row["n_high"]) for task, row in after.items()}
    is_unknown = any(row["n_low"] != row["n_high"] for row in before.values())
    return judge(
        all(abs(points) <= EQUIVALENT for points in changes.values()) and not any(unread_counts.values()),
        f"Of the answers that can be read cities moves by {changes['cities']:+.0f} points and sports by "
        f"{changes['sports']:+.0f}, and their mean hides it ({mean_before:g}% to {mean_after:.1f}%); under disruption "
        f"at least {unread_counts['cities']} of {after['cities']['items']} and {unread_counts['sports']} of "
        f"{after['sports']['items']} answers cannot be read and are left out."
        + (" How many are read before is not stored, so no test can be made." if is_unknown else ""),
        otherwise="not supported",
        reported="stable",
        recomputed=f"{changes['sports']:+.0f} points in sports",
        n=sum(int(row["items"]) for row in after.values()),
    )


@claim("004, 5.5 Interpretation")
def c004_massive_values_roles(functional_shares: pd.DataFrame, disruption_by_text: pd.DataFrame) -> Verdict:
    """RoPE uses massive values to store critical information, DroPE's are vestigial.

    `c004_drope_nonfunctional` judges the second half of the statement by the same perplexities.
    """
    cells = {
        model: [
            pick(functional_shares, positional=model, condition=condition, task="passkey")
            for condition in ("baseline", "qk_disruption")
        ]
        for model in PAIR
    }
    shares = {model: float(after["share"]) for model, (_, after) in cells.items()}
    changes = [
        f"{model} from {before['printed_text']} to {after['printed_text']}" for model, (before, after) in cells.items()
    ]
    ratios = disruption_by_text.loc[disruption_by_text["positional"] == "DroPE", "massive_ratio"]
    is_usable = bool((ratios < USABLE).all())
    return judge(
        shares["DroPE"] > 0 and is_usable,
        f"The same disruption takes the passkey of {listed(changes)}: "
        + ("DroPE still retrieves without them" if shares["DroPE"] > 0 else "nothing that DroPE could retrieve is left")
        + f". Zeroing all of them multiplies DroPE's perplexity by {min_to_max(ratios, '.0f')}"
        + ("." if is_usable else ": values without which a model breaks are not vestigial."),
    )


@claim("004, 5.5 Interpretation, Figure 16")
def c004_fig16_panels(drope_functional: pd.DataFrame, drope_captions: pd.DataFrame) -> Iterator[Verdict]:
    """Figure 16 shows four conditions and tasks; without the MLP output DroPE's parametric accuracy is 60% to 71%."""
    for column, key in (("condition", "fig_16_conditions"), ("task", "fig_16_tasks")):
        count = drope_functional[column].nunique()
        yield compare(
            quote(drope_captions, statement=key),
            count,
            reason=f"The table has {count}.",
            places=0,
            key=f"{column}s",
            statement=f"The table has as many {column}s as the caption says.",
            kind="cell check",
        )
    rows = rows_where(drope_functional, positional="DroPE", condition="bos_mlp_ablation", task=("cities", "sports"))
    caption_range = quote(drope_captions, statement="fig_16_drope_parametric").interval
    low, high = rows["value"].min(), rows["value"].max()
    yield cell_check(
        abs(low - caption_range.low) <= 0.5 and abs(high - caption_range.high) <= 0.5,
        f"The table prints {low:.0f}% and {high:.0f}%.",
        reported=printed_text(drope_captions, statement="fig_16_drope_parametric"),
        recomputed=f"{low:.0f}-{high:.0f}%",
        key="parametric",
        statement="DroPE's parametric accuracies under the ablation are those of the caption.",
    )
