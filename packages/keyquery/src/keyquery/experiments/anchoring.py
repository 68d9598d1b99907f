"""Anchoring: whether a truth probe changes its prediction when the answer cannot attend to the question.

For every layer k, a linear probe reads "right" or "wrong" from the residual stream after block k at the last token of
the exact answer. The attention of later tokens to the decisive words of the question is then cut in blocks 0 to k,
and the same probe is applied again: Delta P is the change, in percentage points, of the probability of the class that
the probe predicted first. Samples whose predicted class changes (flips) are question-anchored, the others
answer-anchored.

A flip implies a negative Delta P, so groups by flips at each layer differ by construction. Samples are therefore also
grouped in other ways: by flips at one reference layer; by flips of a probe trained on one half of the data, while a
probe trained on the other half measures Delta P; and by the samples' design where it is known.
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
from keyquery.experiments._anchoring.probe import Bools, Probes, Readings, auroc_by_layer, train_probes
from keyquery.experiments._anchoring.states import mark_question, states_at_end
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject

BY_NAME = True  # runs only if named, because it may need labelled answers
PLANTED = "planted"
SIZES = {PLANTED: (800, 400), "answers": (2000, 1000)}  # training and test samples; fewer if planted, since they repeat
VALIDATION = 0.2  # share of the training units, on which the reference layer is chosen
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
    """Return the name of a model's measurements on a data set; for planted statements, just the model's name."""
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
    """Return rows of Delta P by layer and group.

    Conditions are `DATA/SPLIT/GROUP`. Splits are `layer` (grouped by the flips at each layer), `reference` (by the
    flips at the layer whose probe is best on validation samples), `half` (grouped by flips of one half's probe,
    measured by the other half's probe), `design` and `all`; groups are `question`, `answer` and `all`. Metrics:
    `delta_p`, `control` (as many other tokens cut), `filler` (as many filler tokens cut, if there is filler) and
    `excess` (`delta_p` minus `control`, by sample), each with `_low`, `_high` (95 % interval over units: bootstrap, or
    Student's t below 20 units) and `_sd`; `question_share` (flips, in percent) with `_low` and `_high`; and `samples`.
    The condition `DATA/probe/GROUP` has `auroc`, with an interval from 20 units up, and `accuracy`. For each seed,
    `DATA/seed/all` has `reference_layer`, `right_share` and, if only known names are used, `known_share` (percent of
    n names). `n` is the number of units. Raises DataError if there are too few samples, or if all answers are right or
    all are wrong.

    Parameters
    ----------
    subject : Subject
    options : Options
        Only the seeds are used. Each seed has its own samples, probes and control; they are pooled, and a unit counts
        once.
    data : str
        "planted", or a key of `questions.DATA`.
    data_file : path or None
        A local copy of the data set.
    train, test : int or None
        Number of samples per seed; if None, those of `SIZES`.
    read : {"answer", "end"}
        Where states are read: at the last token of the exact answer, or of the text.
    tokens : int
        Largest number of tokens per forward pass.
    known : bool
        Use only planted statements about names for which the model ranks the true object first.
    """
    sizes = SIZES.get(data, SIZES["answers"])
    train, test = sizes[0] if train is None else train, sizes[1] if test is None else test
    if train < 10 or test < 4:
        raise DataError(f"{train} training and {test} test samples are too few; give at least 10 and 4")
    by_seed = []
    rows: list[Row] = []
    for seed in options.seeds:
        if data == PLANTED:
            if data_file is not None:
                raise DataError("planted statements are generated; --data-file needs another --data")
            sample_split = plant_statements(subject, train, test, seed, known=known)
        else:
            if known:
                raise DataError(
                    "known = true only applies to planted statements, not to questions that the model answers"
                )
            file = None if data_file is None else Path(data_file)
            sample_split = anchoring_questions.answer_questions(subject, data, file, train, test, seed)
        test_samples = _measure_seed(subject, sample_split, seed, read, tokens)
        by_seed.append(test_samples)
        share = 100 * float(test_samples.right.mean())
        labels: dict[str, Any] = {"condition": f"{data}/seed/all", "seed": seed}
        rows.append(row("reference_layer", int(test_samples.reference_layers[0]), 1, **labels))
        rows.append(row("right_share", share, len(test_samples.right), **labels))
        if sample_split.asked:
            known_share = 100 * sample_split.known / sample_split.asked
            rows.append(row("known_share", known_share, sample_split.asked, **labels))
    pooled = pool_seeds(by_seed)
    return [*rows, *probe_rows(data, pooled), *group_rows(data, pooled)]


def _measure_seed(subject: Subject, sample_split: SampleSplit, seed: int, read: str, pass_tokens: int) -> TestSamples:
    train = [mark_question(subject.tokenizer, sample, seed, read=read) for sample in sample_split.train]
    test = [mark_question(subject.tokenizer, sample, seed, read=read) for sample in sample_split.test]
    total = len(train) + 4 * len(test)

    def tell(passes: int) -> Callable[[int], None]:
        """Return a function that reports the samples read in `passes` finished passes and in the current pass."""
        earlier = len(train) + (passes - 1) * len(test) if passes else 0
        return lambda count: subject.tell(f"{earlier + count} of {total} samples read")

    train_states = states_at_end(subject.model, train, tokens=pass_tokens, tell=tell(0))
    before = states_at_end(subject.model, test, tokens=pass_tokens, tell=tell(1))

    def knocked_out_states(field: str, passes: int) -> NDArray[np.float32]:
        """Return states after a knockout of the tokens in the field `field`; NaN for samples without such tokens."""
        rows = [row for row, sample in enumerate(test) if getattr(sample, field)]
        states = np.full_like(before, np.nan)
        if rows:
            affected = [test[row] for row in rows]
            states[rows] = states_at_end(
                subject.model, affected, lambda sample: getattr(sample, field), tokens=pass_tokens, tell=tell(passes)
            )
        return states

    fields = ("question", "control", "filler")
    cut, control, filler = (knocked_out_states(field, passes) for passes, field in enumerate(fields, start=2))
    right = np.asarray([sample.right for sample in sample_split.train])
    fit, validation, first_half = _split_masks(sample_split.train, seed)

    def require_both_labels(members: Bools, name: str) -> None:
        if len(set(right[members].tolist())) < 2:
            raise DataError(f"all {members.sum()} {name} samples have the same label; take more samples")

    def fitted_probes(members: Bools, name: str) -> Probes:
        require_both_labels(members, name)
        return train_probes(train_states[members], right[members], STRENGTH)

    def readings(probes: Probes) -> Readings:
        return Readings(*(probes.probability(states) for states in (before, cut, control, filler)))

    full_probes = fitted_probes(fit, "training")
    require_both_labels(validation, "validation")
    areas = auroc_by_layer(full_probes.probability(train_states[validation]), right[validation])
    return TestSamples(
        full=readings(full_probes),
        first_half=readings(fitted_probes(fit & first_half, "first-half")),
        second_half=readings(fitted_probes(fit & ~first_half, "second-half")),
        right=np.asarray([sample.right for sample in sample_split.test]),
        unit_names=tuple(sample.unit for sample in sample_split.test),
        kinds=tuple(sample.kind for sample in sample_split.test),
        reference_layers=np.full(len(test), int(np.argmax(areas)), dtype=np.int64),
    )


def _split_masks(samples: Sequence[AnswerSample], seed: int) -> tuple[Bools, Bools, Bools]:
    """Return masks of the samples to fit on, of validation samples, and of a random half of all; no unit is split."""
    names = np.asarray([sample.unit for sample in samples])
    units = np.unique(names)
    order = np.random.default_rng(seed).permutation(units)
    validation = np.isin(names, order[: max(1, round(VALIDATION * len(units)))])
    return ~validation, validation, np.isin(names, order[1::2])
