"""Anchoring: whether a probe keeps its reading of an answer's truth when the answer cannot attend to the question.

For every layer k, a linear probe reads "right" or "wrong" from the residual stream after block k at the last token of
the exact answer. The attention of later tokens to the decisive words of the question is then cut in blocks 0 to k, and
the same probe is read again: Delta P is the change of the probability that it gives to its own prediction, in
percentage points. Samples whose prediction flips are question-anchored, the others answer-anchored.

A flip implies a negative Delta P, so groups made layer by layer differ by construction. Four further ways of grouping
are measured as well: once at a reference layer, by a probe trained on one half of the data and measured with one
trained on the other, by the samples' design where it is known, and not at all.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError
from keyquery.experiments._anchoring import questions as anchoring_questions
from keyquery.experiments._anchoring import states as anchoring_states
from keyquery.experiments._anchoring.data import LENGTH, AnswerSample, SampleSplit, plant_statements
from keyquery.experiments._anchoring.groups import DRAWS, TestSamples, group_rows, pool_seeds, probe_rows
from keyquery.experiments._anchoring.probe import Bools, Probes, Readings, auroc_by_layer
from keyquery.experiments._anchoring.probe import train_probes as trained
from keyquery.experiments._anchoring.states import mark_question, states_at_end
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject

BY_NAME = True  # it may need answers that somebody has labelled
PLANTED = "planted"
SIZES = {PLANTED: (800, 400), "answers": (2000, 1000)}  # to train on and to measure; planted statements repeat soon
VALIDATION = 0.2  # of the units to train on; chooses the reference layer
STRENGTH = 1.0
CHOOSES_TEXTS = True
SETTINGS: dict[str, Any] = {
    "probe": "logistic regression on standardised states, L2 penalty",
    "probe_c": STRENGTH,
    "validation_share": VALIDATION,
    "bootstrap_draws": DRAWS,
    "train_and_test": SIZES,
    "planted_prompt_tokens": LENGTH,
    "prompt": "{}".join(anchoring_questions.PROMPT),
    "new_tokens": anchoring_questions.NEW_TOKENS,
    "question_words": {name: source.rule for name, source in anchoring_questions.DATA.items()},
    "right": "the normalised answer is an alias or holds one as whole words",
}


def file_name(model: str, *, data: str = PLANTED, **_: Any) -> str:
    """Return the name of a model's measurements on a data set; for planted statements it is the model's name alone."""
    return model if data == PLANTED else f"{model}-{data}"


def measure(
    subject: Subject,
    options: Options,
    *,
    data: str = PLANTED,
    data_file: str | Path | None = None,
    train: int | None = None,
    test: int | None = None,
    read: str = "answer",
    tokens: int = anchoring_states.TOKENS,
    known: bool = False,
) -> list[Row]:
    """Measure Delta P by layer and group.

    Conditions are `DATA/SPLIT/GROUP`. Splits are `layer` (each layer by its own flips), `reference` (the flips at the
    layer whose probe is best on validation samples), `half` (flips of one half's probe, values of the other's),
    `design` and `all`; groups are `question`, `answer` and `all`. Metrics: `delta_p`, `control` (as many other tokens
    cut), `filler` (as many of the text around, where there is one) and `excess` (the first less the second in each
    sample), each with `_low`, `_high` (95 % over units, by bootstrap, and by Student's t below 20 of them) and `_sd`;
    `question_share` (flips, in percent) with `_low` and `_high`; `samples`. The condition `DATA/probe/GROUP` has
    `auroc` with its interval (from 20 units up) and `accuracy`; `DATA/seed/all` has `reference_layer`, `right_share`
    and, where statements are of known names, `known_share` (percent of n names) of each seed. `n` counts units. Raises
    DataError when there are too few samples, or answers of one kind only.

    Parameters
    ----------
    subject : Subject
    options : Options
        Its seeds: each draws its own samples, probes and control; all are pooled, a unit counting once.
    data : str
        "planted", or a name of `anchoring_questions.DATA`.
    data_file : path or None
        A local copy of the data set.
    train, test : int or None
        Samples a seed; those of `SIZES` when None.
    read : {"answer", "end"}
        Where states are read: at the last token of the exact answer, or of the text.
    tokens : int
        Tokens a forward.
    known : bool
        Of planted statements only those about names whose own object the model itself finds likeliest.
    """
    usual = SIZES.get(data, SIZES["answers"])
    train, test = usual[0] if train is None else train, usual[1] if test is None else test
    if train < 10 or test < 4:
        raise DataError(f"{train} training and {test} test samples are too few; give at least 10 and 4")
    seeds = []
    rows: list[Row] = []
    for seed in options.seeds:
        if data == PLANTED:
            if data_file is not None:
                raise DataError("planted statements are generated; --data-file goes with another --data")
            split = plant_statements(subject, train, test, seed, known=known)
        else:
            if known:
                raise DataError(
                    "known = true only applies to planted statements; answers to questions are labelled right or wrong"
                )
            file = None if data_file is None else Path(data_file)
            split = anchoring_questions.answer_questions(subject, data, file, train, test, seed)
        one = _measure_seed(subject, split, seed, read, tokens)
        seeds.append(one)
        share = 100 * float(one.right.mean())
        rows.append(row("reference_layer", int(one.reference[0]), 1, condition=f"{data}/seed/all", seed=seed))
        rows.append(row("right_share", share, len(one.right), condition=f"{data}/seed/all", seed=seed))
        if split.asked:
            known_share = 100 * split.known / split.asked
            rows.append(row("known_share", known_share, split.asked, condition=f"{data}/seed/all", seed=seed))
    everything = pool_seeds(seeds)
    return [*rows, *probe_rows(data, everything), *group_rows(data, everything)]


def _measure_seed(subject: Subject, split: SampleSplit, seed: int, read: str, tokens: int) -> TestSamples:
    learn = [mark_question(subject.tokenizer, sample, seed, read=read) for sample in split.train]
    asked = [mark_question(subject.tokenizer, sample, seed, read=read) for sample in split.test]
    total = len(learn) + 4 * len(asked)

    def tell(passes: int) -> Callable[[int], None]:
        earlier = len(learn) + (passes - 1) * len(asked) if passes else 0
        return lambda done: subject.tell(f"{earlier + done} of {total} samples read")

    given = states_at_end(subject.model, learn, tokens=tokens, tell=tell(0))
    before = states_at_end(subject.model, asked, tokens=tokens, tell=tell(1))

    def without(passes: int, which: str) -> NDArray[np.float32]:
        """Return states after a knockout of the tokens of this name; NaN for a sample that has none."""
        there = [place for place, sample in enumerate(asked) if getattr(sample, which)]
        after = np.full_like(before, np.nan)
        if there:
            some = [asked[place] for place in there]
            after[there] = states_at_end(
                subject.model, some, lambda sample: getattr(sample, which), tokens=tokens, tell=tell(passes)
            )
        return after

    cut, control, filler = (without(passes, which) for passes, which in enumerate(("question", "control", "filler"), 2))
    right = np.asarray([sample.right for sample in split.train])
    fit, held, halves = _split_masks(split.train, seed)

    def probes(chosen: Bools, what: str) -> Probes:
        if len(set(right[chosen].tolist())) < 2:
            raise DataError(f"all {chosen.sum()} {what} samples are of one kind; take more samples")
        return trained(given[chosen], right[chosen], STRENGTH)

    def readings(of: Probes) -> Readings:
        return Readings(*(of.probability(each) for each in (before, cut, control, filler)))

    whole = probes(fit, "training")
    if len(set(right[held].tolist())) < 2:
        raise DataError(f"all {held.sum()} validation samples are of one kind; take more samples")
    best = auroc_by_layer(whole.probability(given[held]), right[held])
    return TestSamples(
        whole=readings(whole),
        first=readings(probes(fit & halves, "first-half")),
        second=readings(probes(fit & ~halves, "second-half")),
        right=np.asarray([sample.right for sample in split.test]),
        names=tuple(sample.unit for sample in split.test),
        kinds=tuple(sample.kind for sample in split.test),
        reference=np.full(len(asked), int(np.argmax(best)), dtype=np.int64),
    )


def _split_masks(samples: Sequence[AnswerSample], seed: int) -> tuple[Bools, Bools, Bools]:
    """Split whole units: return masks of the samples that train, of those that validate, and of the first half."""
    names = np.asarray([sample.unit for sample in samples])
    units = np.unique(names)
    order = np.random.default_rng(seed).permutation(units)
    held = np.isin(names, order[: max(1, round(VALIDATION * len(units)))])
    return ~held, held, np.isin(names, order[1::2])
