"""Claims of the thesis on anchoring in the small models, where the truth of a statement is known by construction."""

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import value_of
from analysis.subjects import subjects_of_role
from boundpaper.claims import Verdict, claim, judge
from boundpaper.errors import DataError

FEW_FLIPS = 5.0  # percent of the statements below which few change their predicted class
LIMIT = 2.0  # percentage points by which a control may move the probes


def _tiny(curves: pd.DataFrame, split: str, group: str) -> pd.DataFrame:
    """Return rows of the small models' curves for a split and a group, in layers whose probe is above chance.

    Raises
    ------
    DataError
        If there is no such layer.
    """
    is_small = curves["model"].isin(list(subjects_of_role(curves["model"].unique())))
    is_planted = is_small & (curves["data"] == "planted") & curves["above_chance"].astype(bool)
    rows = curves[is_planted & (curves["split"] == split) & (curves["group"] == group)]
    if rows.empty:
        raise DataError(
            "anchoring_curves: no small model has a layer whose probe is above chance; measure again: python build.py "
            "run anchoring --model tiny-rope"
        )
    return rows


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_question(anchoring_curves: pd.DataFrame) -> Verdict:
    """In each layer of the small models whose probe detects truth, the probe believes statements less when the question
    that they need is cut.
    """
    rows = _tiny(anchoring_curves, "design", "question")
    below_zero = int((rows["delta_p_high"] < 0).sum())
    weakest_layer = rows.iloc[int(rows["delta_p"].argmax())]
    return judge(
        below_zero == len(rows),
        f"In {below_zero} of {len(rows)} layers of {rows['model'].nunique()} models the 95 % interval of Delta P lies "
        f"below zero; the weakest loss is {weakest_layer['delta_p']:.1f} points ({weakest_layer['display_name']}, "
        f"layer {weakest_layer['layer']}).",
        recomputed=f"{below_zero} of {len(rows)} layers",
        n=int(rows["n"].min()),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_answer(anchoring_curves: pd.DataFrame) -> Verdict:
    """In the small models, statements that their answer alone shows to be false count as answer-anchored."""
    rows = _tiny(anchoring_curves, "design", "answer")
    top_row = rows.iloc[int(rows["question_share"].argmax())]
    return judge(
        bool(top_row["question_share"] < FEW_FLIPS),
        f"Over {len(rows)} layers of {rows['model'].nunique()} models at most {top_row['question_share']:.1f} % of "
        f"them flip ({top_row['display_name']}, layer {top_row['layer']}), against a bound of {FEW_FLIPS:g} %.",
        recomputed=f"{top_row['question_share']:.1f}%",
        n=int(rows["n"].min()),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_control(anchoring_curves: pd.DataFrame) -> Verdict:
    """In the small models, cutting equally many filler tokens instead moves the probes by less than two points."""
    rows = pd.concat([_tiny(anchoring_curves, "design", group) for group in ("question", "answer")], ignore_index=True)
    top_row = rows.iloc[int(rows["filler"].abs().argmax())]
    return judge(
        bool(abs(top_row["filler"]) < LIMIT),
        f"Over {len(rows)} groups and layers of {rows['model'].nunique()} models this control is farthest from zero "
        f"with {top_row['filler']:.2f} points ({top_row['display_name']}, layer {top_row['layer']}).",
        recomputed=f"{top_row['filler']:.2f}",
        n=int(rows["n"].min()),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_opening(anchoring_curves: pd.DataFrame) -> Verdict:
    """Cutting as many tokens as the question has, from elsewhere, moves every layer's probe by less than two points."""
    rows = pd.concat([_tiny(anchoring_curves, "design", group) for group in ("question", "answer")], ignore_index=True)
    beyond_limit = rows[rows["control"].abs() >= LIMIT]
    top_row = rows.iloc[int(rows["control"].abs().argmax())]
    return judge(
        beyond_limit.empty,
        f"{len(beyond_limit)} of {len(rows)} groups and layers reach two points, the farthest with "
        f"{top_row['control']:.2f} ({top_row['display_name']}, layer {top_row['layer']}, {top_row['filler']:.2f} with "
        "filler alone): the draw can hit the word and the full stop that open a statement.",
        recomputed=f"{top_row['control']:.2f}",
        n=int(rows["control_n"].min()),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_circular(anchoring_counts: pd.DataFrame) -> Verdict:
    """Groups formed by the probe's flips lie farther apart than groups formed by what a statement's truth needs."""
    outcome_gap, design_gap = (value_of(anchoring_counts, f"gap_{split}") for split in ("layer", "design"))
    return judge(
        abs(outcome_gap) > abs(design_gap),
        f"At the last layer, as a mean over {value_of(anchoring_counts, 'models_last'):.0f} small models, the question "
        f"group lies {abs(outcome_gap):.1f} points below the answer group when flips make the groups, and "
        f"{abs(design_gap):.1f} when the design makes them.",
        recomputed=f"{outcome_gap:.1f} against {design_gap:.1f}",
        n=int(value_of(anchoring_counts, "models_last")),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_half(anchoring_curves: pd.DataFrame) -> Verdict:
    """A gap remains when one probe forms the groups and a second probe, trained on other data, is measured."""
    question, answer = (
        _tiny(anchoring_curves, "half", group).set_index(["model", "layer"]) for group in ("question", "answer")
    )
    is_apart = question["delta_p_high"] < answer["delta_p_low"]
    smallest_gap = (question["delta_p"] - answer["delta_p"]).max()
    return judge(
        bool(is_apart.all()),
        f"In {int(is_apart.sum())} of {len(is_apart)} layers of the small models the 95 % intervals of the two groups "
        f"do not meet; the smallest gap is {smallest_gap:.1f} points.",
        otherwise="not supported",
        recomputed=f"{int(is_apart.sum())} of {len(is_apart)} layers",
        n=int(question["n"].min()),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_needing(anchoring_counts: pd.DataFrame) -> Verdict:
    """Many statements keep their class without the question, and so count as answer-anchored, though they need it."""
    needing_share, flip_share = (value_of(anchoring_counts, name) for name in ("needing", "question_flips"))
    return judge(
        needing_share > FEW_FLIPS,
        f"At the last layer at least {needing_share:.0f} % of the answer-anchored statements have a truth that depends "
        f"on the question, as only {flip_share:.0f} % of such statements flip; the probe's guess without the question "
        "is right by luck for the others.",
        recomputed=f"{needing_share:.0f}%",
        n=int(value_of(anchoring_counts, "models_last")),
    )


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_known(anchoring_known: pd.DataFrame) -> list[Verdict]:
    """A pretrained model's belief in statements on what it knows falls if their end cannot see their beginning."""
    return [
        by_interval(
            row,
            -1,
            f"at layer {int(row['layer'])}, whose probe is best (AUROC {row['auroc']:.2f} [{row['auroc_low']:.2f}, "
            f"{row['auroc_high']:.2f}]), Delta P is {row['question']:.1f} points [{row['question_low']:.1f}, "
            f"{row['question_high']:.1f}] over {int(row['question_n'])} names, and {row['question_filler']:.1f} when "
            "as many tokens before are cut",
            columns=("question", "question_low", "question_high"),
            n="question_n",
            key=str(row["model"]),
            statement=f"Statements about what {row['display_name']} knows, whose truth needs their beginning, lose "
            "belief when their end cannot see it.",
        )
        for _, row in anchoring_known.iterrows()
    ]


@claim("thesis, Anchored in the question or in the answer")
def thesis_anchoring_known_answer(anchoring_known: pd.DataFrame) -> list[Verdict]:
    """In a pretrained model, statements decided by their end alone keep their class if it cannot see the beginning."""
    return [
        judge(
            bool(row["answer_flips"] < FEW_FLIPS),
            f"At layer {int(row['layer'])} {row['answer_flips']:.1f} % of them flip, of those that need the beginning "
            f"{row['question_flips']:.1f} %; the bound is {FEW_FLIPS:g} %.",
            recomputed=f"{row['answer_flips']:.1f}%",
            n=int(row["answer_n"]),
            key=str(row["model"]),
            statement=(
                f"In {row['display_name']}, fewer than one in twenty statements whose end alone tells that they are "
                "false change their predicted class when it cannot see their beginning."
            ),
        )
        for _, row in anchoring_known.iterrows()
    ]
