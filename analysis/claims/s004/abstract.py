"""Document 004, opening: claims in the sections before the experiments, and values these repeat from experiments."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import printed_text
from boundpaper.claims import Artifact, Cells, Relation, Repeats, Verdict, about, claim, judge, pick, quote, untestable

LAYERS = 32
STATED = Artifact("drope_stated")
CHANGES = Artifact("drope_massive_counts").where(metric="change_from_rope")
LAYER1 = Artifact("drope_layer1_massive", "the table of layer 1")
PASSKEY = Artifact("drope_knowledge", "the table of tasks").where(task="passkey")
CONTENT = Artifact("drope_layer1_content", "the table of contributions")
NORMS = Artifact("drope_layer1_norms", "the table of norms")
RATIOS = Artifact("drope_layer1_perplexity", "the table of layer-1 ablations").where(
    positional="RoPE", metric="ppl_ratio"
)


@claim("004, The Story So Far")
def c004_orders_of_magnitude(drope_stated: pd.DataFrame) -> Verdict:
    """Some dimensions of queries and keys are orders of magnitude larger than their neighbours."""
    return untestable(
        "Only counts above five times the mean are published; the norms of single dimensions would decide.",
        reported=printed_text(drope_stated, statement="story_magnitude"),
    )


@claim("004, One Weird Paradox")
def c004_rope_spread(massive_layers: pd.DataFrame) -> Verdict:
    """With rotary positions massive values are spread across layers."""
    largest_shares = {
        tensor: float(massive_layers.loc[massive_layers["tensor"] == tensor, "share_rope"].max())
        for tensor in ("query", "key", "value")
    }
    even_share = 100 / LAYERS
    return judge(
        largest_shares["query"] < 2 * even_share and largest_shares["key"] < 2 * even_share,
        f"The fullest of {LAYERS} layers holds {largest_shares['query']:.1f} % of the massive query values and "
        f"{largest_shares['key']:.1f} % of the key ones, against {even_share:.1f} % if all held as many (of the value "
        f"ones, {largest_shares['value']:.0f} %).",
        n=LAYERS,
    )


@claim("004, One Weird Paradox")
def c004_concentrated_layer1(massive_layer_summary: pd.DataFrame) -> Verdict:
    """Without rotary positions massive values are concentrated in layer 1."""
    query, key = (pick(massive_layer_summary, tensor=tensor) for tensor in ("query", "key"))
    return judge(
        bool(min(query["layer1_share_drope"], key["layer1_share_drope"]) > 50),
        f"Layer 1 holds {query['layer1_share_drope']:.0f} % of those of queries, where layer "
        f"{query['top_layer_drope']} is the fullest; for keys it holds {key['layer1_share_drope']:.1f} %, and layer "
        f"{key['top_layer_drope']} is the fullest.",
        otherwise="not supported",
        recomputed=f"{query['layer1_share_drope']:.1f} % and {key['layer1_share_drope']:.1f} %",
        n=LAYERS,
    )


@claim("004, One Weird Paradox")
def c004_passkey_zeroed(drope_stated: pd.DataFrame) -> Verdict:
    """Passkey retrieval was tested with the massive values zeroed."""
    stated_method = str(pick(drope_stated, statement="paradox_passkey_rope_disrupted")["quantity"])
    method = str(pick(drope_stated, statement="s4_1_disrupted_dimensions")["quantity"])
    count = quote(drope_stated, statement="s4_1_disrupted_dimensions")
    return judge(
        ("zero" in stated_method) == ("zero" in method),
        (
            f"Section 4.1 describes that experiment, on {count.printed} dimension per head, with the same word.",
            f"According to Section 4.1, that experiment replaces {count.printed} dimension per head by its mean; the "
            "experiments on perplexity zero all massive dimensions.",
        ),
        reported="zeroed",
        recomputed="zeroed" if "zero" in method else "mean",
    )


@claim("004, One Weird Paradox")
def c004_rope_vestigial(knowledge_tasks: pd.DataFrame, disruption_by_text: pd.DataFrame) -> Verdict:
    """Massive values are vestigial in the model with rotary positions."""
    row = pick(knowledge_tasks, positional="RoPE", task="passkey")
    rope = disruption_by_text[disruption_by_text["positional"] == "RoPE"]
    return judge(
        not bool(row["p_holm"] < 0.05),
        f"The sentences before it give the passkey's fall from {row['base']:.0f} to {row['disrupted']:.0f} % in that "
        f"model, and perplexity rises {rope['massive_ratio'].min():,.0f} times or more; elsewhere the report says so "
        "of DroPE.",
        n=int(row["n"]),
        p_value=float(row["p_fisher"]),
        p_adjusted=float(row["p_holm"]),
    )


@claim("004, Looking at this deeper")
def c004_layers_and_heads(drope_stated: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The models have 32 layers of 32 heads."""
    llama_pair = models[models["model"].isin(["llama2-7b-rope", "llama2-7b-drope"])]
    for noun, column in (("layers", "layers"), ("heads", "query_heads")):
        counts = [int(count) for count in llama_pair[column]]
        reported = quote(drope_stated, statement=f"deeper_{noun}")
        yield judge(
            all(count == reported.number for count in counts),
            f"By their configurations the two models have {' and '.join(map(str, counts))}.",
            reported=reported.printed,
            recomputed=str(counts[0]),
            n=len(counts),
            key=noun,
            statement=f"Attention was measured over {reported.printed} {noun}.",
        )


@claim("004, What This Means")
def c004_bookkeeping_layer1(massive_layer_summary: pd.DataFrame) -> Verdict:
    """DroPE does all positional bookkeeping in its first layer, while RoPE spreads it over 32 layers."""
    query = pick(massive_layer_summary, tensor="query")
    return untestable(
        f"Counts and norms show that layer 1 differs ({query['layer1_share_drope']:.0f} % of the massive query "
        "values); what positional information a layer carries was not measured, which probes for position by layer "
        "would show."
    )


@claim("004, What This Means")
def c004_long_context_open(drope_stated: pd.DataFrame, drope_context: pd.DataFrame) -> Verdict:
    """Whether DroPE helps at 32K or 128K tokens is not answered."""
    longest = int(drope_context["context"].astype(int).max())
    lengths = [quote(drope_stated, statement=f"meaning_untested_{length}") for length in ("32k", "128k")]
    return judge(
        all(longest < length.number for length in lengths),
        f"The longest context of Experiment 10 has {longest} tokens.",
        reported=" and ".join(length.printed for length in lengths),
        recomputed=str(longest),
    )


c004_abstract_falls = Cells(
    "The opening repeats the changes of the counts as falls.",
    "004, One Weird Paradox",
    *(
        Relation(
            cell=STATED(statement=statement),
            follows=-change,
            because="The table prints {0}.",
            key=statement,
            says="The text gives {cell.row[quantity]!l}.",
        )
        for statement, change in (
            ("paradox_query_fall", CHANGES(tensor="query").by("c004_massive_change_cells.query")),
            ("paradox_key_fall", CHANGES(tensor="key").by("c004_massive_change_cells.key")),
            (
                "paradox_later_layers_fall",
                LAYER1(layers="2-31", metric="change_from_rope").by("c004_later_layers.change"),
            ),
        )
    ),
)


c004_abstract_repeats = Cells(
    "The opening repeats values of the experiments.",
    "004, One Weird Paradox and Looking at this deeper",
    Repeats(
        STATED,
        {
            "paradox_layer1_ratio": LAYER1(layers="1", metric="change_from_rope").by("c004_layer1_tensors"),
            "paradox_reliance_ratio": Artifact("drope_disruption_statistics", "the list of tests")(
                statistic="reliance_ratio"
            ).by("c004_reliance.reliance"),
            "paradox_contextual_fall": Artifact("drope_knowledge_categories", "the table of averages")(
                positional="DroPE", metric="contextual_average"
            ).by("c004_drope_contextual"),
            "paradox_passkey_rope_baseline": PASSKEY(positional="RoPE", metric="baseline"),
            "paradox_passkey_rope_disrupted": PASSKEY(positional="RoPE", metric="disrupted"),
            "paradox_passkey_drope_baseline": PASSKEY(positional="DroPE", metric="baseline"),
            "paradox_passkey_drope_disrupted": PASSKEY(positional="DroPE", metric="disrupted"),
            "deeper_sink_heads": Artifact("drope_attention", "the table of attention patterns (DroPE)")(
                positional="DroPE", metric="sink_heads"
            ).by("c004_pat_head_classes.DroPE-sink_heads"),
            "deeper_rope_attention_share": CONTENT(positional="RoPE", metric="attention_contribution"),
            "deeper_rope_mlp_share": CONTENT(positional="RoPE", metric="mlp_contribution"),
            "deeper_drope_attention_share": CONTENT(positional="DroPE", metric="attention_contribution").by(
                "c004_con_to_residual"
            ),
            "deeper_drope_mlp_share": CONTENT(positional="DroPE", metric="mlp_contribution"),
            "deeper_rope_mlp_ablation": RATIOS(condition="layer1_mlp").by("c004_layer1_ratios.RoPE-layer1_mlp"),
            "deeper_rope_attention_ablation": RATIOS(condition="layer1_attn").by("c004_layer1_ratios.RoPE-layer1_attn"),
            "deeper_rope_query_norm": NORMS(positional="RoPE", metric="query_norm"),
            "deeper_rope_key_norm": NORMS(positional="RoPE", metric="key_norm"),
            "deeper_drope_query_norm": NORMS(positional="DroPE", metric="query_norm"),
            "deeper_drope_key_norm": NORMS(positional="DroPE", metric="key_norm"),
        },
    ),
)


@claim("004, Looking at this deeper")
def c004_abstract_about_200(drope_stated: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame) -> Iterator[Verdict]:
    """Ablating the MLP or the attention of DroPE's layer 1 makes perplexity about 200 times as high."""
    reported = quote(drope_stated, statement="deeper_drope_either_ablation")
    for condition in ("layer1_mlp", "layer1_attn"):
        cell = quote(drope_layer1_perplexity, positional="DroPE", condition=condition, metric="ppl_ratio")
        yield about(
            reported,
            cell.number,
            reason=f"The table prints {cell.printed}.",
            key=condition,
            statement=f"With {condition} ablated, the perplexity of DroPE rises about 200 times.",
        )
