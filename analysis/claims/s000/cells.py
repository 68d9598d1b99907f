"""Document 000, tables: checks that derived cells follow from printed ones, and that repeated cells agree."""

import re
from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, printed_text
from boundpaper.claims import Artifact, Cells, Copies, Relation, Verdict, claim, compare, judge, pick, quote
from boundpaper.claims.terms import mean
from boundpaper.statistics import rounding

CROSS = "cross-attention"
# family in document 000 -> family in the table of models
FAMILIES = {"Llama": "Llama 3", "Mistral": "Ministral 3", "Qwen": "Qwen3"}
MODELS = Artifact("nope_models", "the table of Finding 1")
DECILES = Artifact("reported_deciles")
LAYERS = Artifact("nope_layers")


c000_models_recovery = Cells(
    "In the table of two models, the recovery is the level after the dip minus the dip.",
    "000, Finding 1",
    Relation(
        each=MODELS.rows("model"),
        cell=MODELS(model="{model}", metric="recovery"),
        follows=MODELS(model="{model}", metric="recovery_level") - MODELS(model="{model}", metric="dip"),
        because="{0} - {1}.",
        places=3,
        key="{model}",
        says="The recovery of {model} is its level after the dip minus its dip.",
    ),
)


c000_models_deciles = Cells(
    "The dip and the level after it are means of two deciles of the profiles printed elsewhere.",
    "000, Finding 1",
    Relation(
        each={"model": MODELS.rows("model"), "metric, one, two": (("dip", 4, 5), ("recovery_level", 6, 7))},
        cell=MODELS(model="{model}", metric="{metric}"),
        follows=mean(DECILES(model="{model}", decile="{one}"), DECILES(model="{model}", decile="{two}")),
        because="The mean of the deciles {0} and {1}.",
        places=4,
        key="{model}-{metric}",
        says="{metric} of {model} is the mean of deciles {one} and {two}.",
    ),
)


@claim("000, Finding 3")
def c000_recovery_deciles(nope_recovery: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Iterator[Verdict]:
    """In the table of ten models, the recovery is the mean of deciles 6 and 7 minus that of deciles 4 and 5."""
    rows = nope_recovery_recomputed[nope_recovery_recomputed["agreement"] != ""]
    for _, row in rows.iterrows():
        cell = quote(nope_recovery, model=row["model"], metric="recovery")
        limits = f"{row['recovery_low']:+.4f} to {row['recovery_high']:+.4f}"
        yield Verdict(
            verdict=str(row["agreement"]),
            reason=f"{row['level']:.4f} - {row['dip']:.4f}; the rounding of the deciles leaves {limits}.",
            reported=cell.printed,
            recomputed=f"{row['recovery']:+.4f}",
            key=str(row["model"]),
            statement=f"The recovery of {row['model']} follows from its deciles.",
            kind="cell check",
        )


c000_recovery_copies = Cells(
    "The table of ten models repeats the recovery of the table of two.",
    "000, Finding 3",
    Copies(Artifact("nope_recovery").where(metric="recovery"), MODELS, ("model", "metric")),
)


@claim("000, Finding 3")
def c000_recovery_layers(
    nope_recovery: pd.DataFrame, models: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame
) -> Iterator[Verdict]:
    """The table of ten models gives the number of layers and the family of each model."""
    text_layers = nope_recovery_recomputed.set_index("model")["text_layers"]
    for _, row in nope_recovery[nope_recovery["metric"] == "layers"].iterrows():
        facts = pick(models, model=row["model"])
        printed_layers = int(re.findall(r"\d+", row["printed"])[0])
        layers = int(text_layers[row["model"]])
        same_family = FAMILIES[row["family"]] == facts["family"]
        yield cell_check(
            printed_layers == layers and same_family,
            f"Its configuration has {layers} self-attention layers; its family is {facts['family']}.",
            reported=f"{row['printed']}, {row['family']}",
            recomputed=f"{layers}, {facts['family']}",
            key=str(row["model"]),
            statement=f"{row['model']} has {row['printed']} layers and belongs to {row['family']}.",
        )


c000_layers_recovery = Cells(
    "In both tables of single layers, the recovery is the third pair of deciles minus the second.",
    "000, Per-Layer Anatomy",
    Relation(
        each=Artifact("nope_layer_cells").rows("model", "layer"),
        cell=LAYERS(model="{model}", layer="{layer}", metric="recovery"),
        follows=LAYERS(model="{model}", layer="{layer}", metric="d67")
        - LAYERS(model="{model}", layer="{layer}", metric="d45"),
        because="{0} - {1}.",
        places=3,
        key="{model}-{layer}",
        says="The recovery of layer {layer} of {model} is the difference of its levels.",
    ),
)


@claim("000, Per-Layer Anatomy")
def c000_layers_order(nope_layer_cells: pd.DataFrame) -> Iterator[Verdict]:
    """Both tables of single layers are in falling order of the recovery."""
    for model, rows in nope_layer_cells.groupby("model", sort=False):
        recoveries = list(rows["recovery"])
        yield cell_check(
            recoveries == sorted(recoveries, reverse=True),
            f"The recoveries run {', '.join(f'{recovery:+.3f}' for recovery in recoveries)}.",
            key=str(model),
            statement=f"The layers of {model} are in falling order of the recovery.",
            n=len(recoveries),
        )


@claim("000, Per-Layer Anatomy")
def c000_layers_adjacency(nope_layer_cells: pd.DataFrame, nope_layer_kinds: pd.DataFrame) -> Iterator[Verdict]:
    """The table of single layers of Llama-3.2-11B says which layers are next to a cross-attention layer."""
    cross_layers = set(nope_layer_kinds.loc[nope_layer_kinds["kind"] == CROSS, "layer"])
    for _, row in nope_layer_cells[nope_layer_cells["adjacency"] != ""].iterrows():
        layer = int(row["layer"])
        neighbours = (("after", layer - 1), ("before", layer + 1))
        adjacency = next((f"{side} {index}" for side, index in neighbours if index in cross_layers), "no")
        yield cell_check(
            adjacency == row["adjacency"],
            f"The cross-attention layers next to it: {adjacency}.",
            reported=str(row["adjacency"]),
            recomputed=adjacency,
            key=str(layer),
            statement=f"Layer {layer} is next to a cross-attention layer: {row['adjacency']}.",
        )


@claim("000, Finding 2")
def c000_adjacency_groups(nope_groups: pd.DataFrame, nope_adjacency: pd.DataFrame) -> Iterator[Verdict]:
    """The three groups of the adjacency table hold 8, 8 and 16 layers: the layers listed for them."""
    for group in ("after", "before", "far"):
        printed_count = quote(nope_adjacency, group=group, metric="layers")
        computed_layers = set(nope_groups.loc[nope_groups["group"] == group, "layer"])
        listed_layers = set(nope_groups.loc[nope_groups["listed"] == group, "layer"])
        yield cell_check(
            len(computed_layers) == printed_count.number and computed_layers == listed_layers,
            f"The indices of the cross-attention layers put {len(computed_layers)} layers into the group, "
            f"{len(computed_layers & listed_layers)} of them as listed.",
            reported=printed_count.printed,
            recomputed=str(len(computed_layers)),
            key=group,
            statement=f"The group {group} has {printed_count.printed} layers.",
            n=len(computed_layers),
        )


@claim("000, Finding 2")
def c000_adjacency_mean(nope_adjacency: pd.DataFrame, nope_models: pd.DataFrame) -> Verdict:
    """The mean recovery of the three groups, weighted by their numbers of layers, is the model's recovery."""
    groups = ("after", "before", "far")
    sizes = [quote(nope_adjacency, group=group, metric="layers").number for group in groups]
    means = [quote(nope_adjacency, group=group, metric="mean_recovery") for group in groups]
    layer_count = sum(sizes)
    interval = rounding.mean(mean.interval for mean, size in zip(means, sizes, strict=True) for _ in range(int(size)))
    weighted_mean = sum(size * mean.number for mean, size in zip(means, sizes, strict=True)) / layer_count
    return compare(
        quote(nope_models, model="llama3.2-11b", metric="recovery"),
        weighted_mean,
        interval,
        reason=f"The weighted mean over {layer_count:.0f} layers is {weighted_mean:.4f}.",
        places=4,
        n=int(layer_count),
        kind="cell check",
    )


@claim("000, Background")
def c000_background_indices(nope_facts: pd.DataFrame, nope_layer_kinds: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Llama-3.2-11B-Vision has 40 layers: 32 of self-attention with rotary encoding, 8 of cross-attention without."""
    counts_by_kind = nope_layer_kinds["kind"].value_counts()
    self_count, cross_count = int(counts_by_kind.drop(CROSS).sum()), int(counts_by_kind[CROSS])
    printed_counts = [
        int(quote(nope_facts, fact=fact).number)
        for fact in ("layers", "self_attention_layers", "cross_attention_layers")
    ]
    configuration = pick(models, model="llama3.2-11b")
    printed_layers = _indices(printed_text(nope_facts, fact="self_attention_indices"))
    self_attention_layers = set(nope_layer_kinds.loc[nope_layer_kinds["kind"] != CROSS, "layer"])
    return judge(
        printed_counts == [int(configuration["layers"]), self_count, cross_count]
        and printed_layers == self_attention_layers
        and "none in cross" in configuration["position_encoding"],
        f"The configuration has {configuration['layers']} layers; the index ranges printed hold {len(printed_layers)} "
        f"layers and leave {cross_count}; position encoding: {configuration['position_encoding']}.",
        reported=f"{printed_counts[0]}, {printed_counts[1]} and {printed_counts[2]}",
        recomputed=f"{configuration['layers']} = {self_count} + {cross_count}",
        n=int(configuration["layers"]),
    )


@claim("000, Background")
def c000_background_period(
    nope_facts: pd.DataFrame, nope_layer_kinds: pd.DataFrame, published_facts: pd.DataFrame
) -> Verdict:
    """Every fifth layer from layer 3 on is a cross-attention layer, as in the configuration's default."""
    cross_layers = set(nope_layer_kinds.loc[nope_layer_kinds["kind"] == CROSS, "layer"])
    period, start = (int(quote(nope_facts, fact=f"cross_attention_{name}").number) for name in ("period", "first"))
    computed_layers = set(range(start, len(nope_layer_kinds), period))
    default_layers, published_layers = (
        _indices(printed_text(facts, fact=fact))
        for facts, fact in ((nope_facts, "cross_attention_default"), (published_facts, "cross_attention_layers"))
    )
    layers_in_words = [
        ", ".join(map(str, sorted(layers)))
        for layers in (computed_layers, cross_layers, default_layers, published_layers)
    ]
    return judge(
        computed_layers == cross_layers == default_layers == published_layers,
        f"Every {period}th layer from {start} on gives {layers_in_words[0]}; the list and the default printed beside "
        f"it have {layers_in_words[1]} and {layers_in_words[2]}, the configuration that the model's library ships "
        f"{layers_in_words[3]}.",
        reported=f"every {period}th layer starting from {start}",
        recomputed=layers_in_words[3],
        n=len(published_layers),
    )


def _indices(text: str) -> set[int]:
    """Return the whole numbers in a list with ranges such as `0–2, 4–7, 39`."""
    numbers: set[int] = set()
    for range_ in text.split(","):
        ends = [int(end) for end in re.findall(r"\d+", range_)]
        numbers |= set(range(ends[0], ends[-1] + 1))
    return numbers
