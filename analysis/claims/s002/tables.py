"""Document 002, tables: checks that derived columns follow from printed ones, and that repeated cells agree."""

import pandas as pd

from boundpaper.claims import Artifact, Cells, Copies, Relation, Verdict, claim, judge, untestable
from boundpaper.claims.terms import mean, percent_change

METRIC = ("model", "metric")
MECHANISTIC = Artifact("reported_mechanistic", "Table 1")
ALL_MODELS = Artifact("reported_plasticity", "the all-models table")
BINS = Artifact("reported_length_bins", "Table 2")
LENGTH_OF_BIN = {"0-8K": "8k", "8K-16K": "16k", "16K-32K": "32k", "32K-64K": "64k", "64K-128K": "128k"}
TABLE3 = Artifact("reported_lbp_lengths")
DECILES = Artifact("reported_deciles", "Table 4")
RULER = Artifact("reported_ruler_plasticity", "Table 8")
RULER_MODELS = Artifact("reported_ruler_models")
PUBLISHED_RULER = Artifact("published_ruler", "RULER's README").assign(metric="ruler_{length}")
ROTATION = Artifact("reported_rotation_ruler", "the table of rotation metrics")
PREDECESSOR = Artifact("reported_mistral_predecessor")
DECLINES = Artifact("reported_ruler_declines")
CHANGES = DECLINES.where(metric=("ruler_change", "plasticity_change")).printed()


def _drop_relation(table: Artifact) -> Relation:
    return Relation(
        each=table.rows("model"),
        cell=table(model="{model}", metric="ap_drop"),
        follows=table(model="{model}", metric="ap_first_20") - table(model="{model}", metric="ap_last_20"),
        because="{0} - {1}.",
        places=4,
        key="{model}",
        says="ap_drop of {model} is its ap_first_20 minus its ap_last_20.",
    )


c002_t1_drop = Cells(
    "In Table 1, ap_drop is ap_first_20 minus ap_last_20.",
    "002, Aggregate Scores and Mechanistic Metrics, Table 1",
    _drop_relation(MECHANISTIC),
)


c002_t1_all_models = Cells(
    "Table 1 and the table of all models print the same values for the seven models that are in both.",
    "002, Aggregate Scores and Mechanistic Metrics, Table 1",
    Copies(MECHANISTIC, ALL_MODELS, METRIC),
)


c002_all_models_drop = Cells(
    "In the table of all models, ap_drop is ap_first_20 minus ap_last_20.",
    "002, All models with mechanistic data",
    _drop_relation(ALL_MODELS),
)


c002_all_models_scores = Cells(
    "The benchmark scores in the table of all models are the published ones.",
    "002, All models with mechanistic data",
    Copies(
        ALL_MODELS,
        (
            Artifact("published_lbp", "the benchmark's published table")
            .where(length="overall", mode="nonthinking")
            .assign(metric="lbp"),
            PUBLISHED_RULER.where(length="128k"),
        ),
        METRIC,
    ),
)


@claim("002, All models with mechanistic data")
def c002_all_models_sorted(reported_plasticity: pd.DataFrame) -> Verdict:
    """The table of all models is sorted by aggregate plasticity, highest first."""
    column = reported_plasticity.loc[reported_plasticity["metric"] == "ap_overall", "value"]
    rise_count = int((column.diff() > 0).sum())
    return judge(
        rise_count == 0,
        f"The {len(column)} values run from {column.iloc[0]:.4f} to {column.iloc[-1]:.4f} with {rise_count} rises.",
        n=len(column),
    )


c002_t2_total = Cells(
    "In Table 2, the total drop is the last length bin minus the first.",
    "002, Per-Length-Bin Plasticity Profile, Table 2",
    Relation(
        each=BINS.rows("model"),
        cell=BINS(model="{model}", bin="total"),
        follows=BINS(model="{model}", bin="64K-128K") - BINS(model="{model}", bin="0-8K"),
        because="{0} - {1}.",
        places=4,
        key="{model}",
        says="The total drop of {model} is its last length bin minus its first.",
    ),
)


c002_t3_scores = Cells(
    "The scores by length of Ministral-3-14B in Table 3 are the published ones with thinking.",
    "002, Per-Length LongBench Pro Scores, Table 3",
    Copies(
        TABLE3.where(metric="lbp"),
        Artifact("published_lbp", "the benchmark's summary by length"),
        ("model", "mode", "length"),
    ),
)


c002_t3_bins = Cells(
    "The plasticity beside these scores is that of the bin of Table 2 that ends at the length.",
    "002, Per-Length LongBench Pro Scores, Table 3",
    Copies(
        TABLE3.where(metric="plasticity"),
        tuple(BINS.where(bin=bin_name).assign(length=length) for bin_name, length in LENGTH_OF_BIN.items()),
        ("model", "length"),
    ),
)


@claim("002, Per-Length LongBench Pro Scores, Table 3, reference models")
def c002_t3_reference(reported_reference_models: pd.DataFrame) -> Verdict:
    """Nine models that were not captured serve as references, with scores by length read off a figure of the
    benchmark.
    """
    model_count = reported_reference_models["name"].nunique()
    return untestable(
        f"The benchmark's summaries of these {model_count} models would decide on the {len(reported_reference_models)} "
        "cells; they are not among the sources, and no statement rests on them.",
        reported="Reference models",
    )


c002_t4_ends = Cells(
    "The deciles of Table 4 average to the first and last 20 % of the table of all models.",
    "002, Decile Plasticity Profile, Table 4",
    Relation(
        each={"model": DECILES.rows("model"), "metric, one, two": (("ap_first_20", 0, 1), ("ap_last_20", 8, 9))},
        cell=ALL_MODELS(model="{model}", metric="{metric}"),
        follows=mean(DECILES(model="{model}", decile="{one}"), DECILES(model="{model}", decile="{two}")),
        because="The mean of the deciles {0} and {1}.",
        places=4,
        key="{model}-{metric}",
        says="{metric} of {model} is the mean of two deciles.",
    ),
)


c002_t10_t4 = Cells(
    "Table 10 repeats the decile profiles of Table 4 for the two models of RULER.",
    "002, Benchmark: RULER, Table 10",
    Copies(Artifact("reported_ruler_deciles"), DECILES, ("model", "decile")),
)


c002_observations_cells = Cells(
    "The three tables of the observations repeat Table 1, rounded to three decimals.",
    "002, Observations",
    *(
        Copies(Artifact("reported_observations").where(table=table), MECHANISTIC, METRIC, prefix=f"{table}-")
        for table in ("aggregate", "last_20", "drop")
    ),
)


c002_ruler_models_cells = Cells(
    "The table of the models added for RULER agrees with the table of all models and with RULER's published scores.",
    "002, Benchmark: RULER, new models",
    Copies(RULER_MODELS, PUBLISHED_RULER, METRIC),
    Copies(RULER_MODELS.where(metric=("ap_overall", "ap_drop", "bias_strength")), ALL_MODELS, METRIC),
)


c002_t8_scores = Cells(
    "The RULER scores of Table 8 are those of the benchmark's README.",
    "002, Benchmark: RULER, Table 8",
    Copies(RULER.where(metric="ruler"), PUBLISHED_RULER, ("model", "length")),
)


c002_t9_bias = Cells(
    "The bias of Table 9 is that of the table of all models.",
    "002, Benchmark: RULER, Table 9",
    Copies(ROTATION, ALL_MODELS, METRIC),
)


c002_generations_cells = Cells(
    "The comparison of two Llama generations repeats the table of all models.",
    "002, RULER analysis: generational comparison",
    Copies(Artifact("reported_llama_generations"), ALL_MODELS, METRIC),
)


c002_predecessor_cells = Cells(
    "The comparison with Mistral-7B-Instruct-v0.2 repeats the table of all models, Table 1 and Table 9.",
    "002, RULER analysis: predecessor comparison",
    Copies(PREDECESSOR, ALL_MODELS, METRIC),
    Copies(PREDECESSOR, (ROTATION.where(metric="plane_var"), MECHANISTIC.where(metric="plane_var")), METRIC),
)


c002_declines_cells = Cells(
    "The table of declines repeats Table 8, and its percentages are changes from the value at 4K.",
    "002, RULER analysis: per-length correlation",
    Copies(
        DECLINES,
        RULER,
        ("model", "length", "metric"),
        judged={
            f"llama3.1-8b-{length}-ruler": f"c002_t8_scores.llama3.1-8b-{length}"
            for length in ("4k", "8k", "16k", "32k", "64k", "128k")
        },
    ),
    Relation(
        each={"place": CHANGES.rows("model", "length"), "metric": ("ruler", "plasticity")},
        cell=DECLINES(model="{model}", length="{length}", metric="{metric}_change"),
        follows=percent_change(
            DECLINES(model="{model}", length="4k", metric="{metric}"),
            DECLINES(model="{model}", length="{length}", metric="{metric}"),
        ),
        because="From {0} to {1}.",
        places=2,
        key="{model}-{length}-{metric}_change",
        says="The change of {metric} from 4K to {length}, in percent.",
    ),
)
