"""The DroPE experiments in six panels (Figures 5 and 17 of the report)."""

from collections.abc import Callable, Sequence

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Rule

MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(
    massive_counts: pd.DataFrame,
    drope_disruption: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    drope_attention: pd.DataFrame,
    drope_bos_mlp: pd.DataFrame,
    drope_layer1_perplexity: pd.DataFrame,
    content_layers: pd.DataFrame,
    context_cells: pd.DataFrame,
) -> Figure:
    """Plot counts, perplexities, sinks, ablations, shares and retrieval, each in the unit of its experiment."""
    counts = massive_counts[massive_counts["rope_sd"].notna()].set_index("tensor").loc[["query", "key"]]
    disruption = drope_disruption.set_index(["positional", "metric"])["value"]
    average = drope_sink_rates[drope_sink_rates["layers"] == "average"].set_index("positional")["value"]
    heads = drope_attention[drope_attention["metric"] == "sink_heads"].set_index("positional")["value"]
    bos = drope_bos_mlp[drope_bos_mlp["metric"] == "ppl_ratio"].set_index("positional")["value"]
    ratios = drope_layer1_perplexity[drope_layer1_perplexity["metric"] == "ppl_ratio"]
    layer1 = ratios.set_index(["condition", "positional"])["value"]
    shares = content_layers[content_layers["layer"] == 1].set_index(["scope", "positional"])["share"]
    beyond = context_cells[(context_cells["multiple"] == 2) & context_cells["share"].notna()]
    beyond = beyond.set_index(["protocol", "positional"])
    protocols = {"lengths": "11.2", "errors": "11.5"}
    retrieval = []
    for entity, model in MODELS.items():
        cells = beyond.loc[[(protocol, model) for protocol in protocols]]
        x, y, low, high = list(protocols.values()), cells["share"], cells["ci_low"], cells["ci_high"]
        retrieval.append(Bars(entity=entity, x=x, y=y, low=low, high=high))
    ablations = {"layer1_mlp": "MLP", "layer1_attn": "attn", "layer1_bos_only": "BOS"}
    scopes = {"content tokens": "content", "BOS": "BOS"}
    panels = [
        _bar_panel(
            "massive values",
            "count",
            ["query", "key"],
            lambda entity, _: counts[f"{entity}_mean"],
            spread=lambda entity: counts[f"{entity}_sd"],
        ),
        _bar_panel(
            "massive values zeroed",
            "perplexity",
            ["before", "after"],
            lambda _, model: [disruption[(model, f"{name}_ppl")] for name in ("baseline", "massive_zeroed")],
            log_range=(1, 5000),
        ),
        _bar_panel(
            "sink heads", "share of heads, %", ["Exp. 4", "Exp. 7"], lambda _, model: [average[model], heads[model]]
        ),
        _bar_panel(
            "ablations",
            "perplexity ratio",
            ["BOS-MLP", *ablations.values()],
            lambda _, model: [bos[model], *(layer1[(condition, model)] for condition in ablations)],
            log_range=(0.5, 5000),
        ),
        _bar_panel(
            "attention in layer 1",
            "share, %",
            list(scopes.values()),
            lambda _, model: [shares[(scope, model)] for scope in scopes],
        ),
        Panel(
            title="passkey at 8K",
            series=retrieval,
            x=Axis(label="section"),
            y=Axis(label="accuracy, %", low=0, high=100),
        ),
    ]
    return Figure(
        panels=panels,
        letters=True,
        height=36,
        caption=(
            "The DroPE experiments in six panels, values of the report and its published data [@africa2026]: (a) "
            "Experiment 1, error bars are one sd over texts; (b) Experiment 2; (c) Experiments 4 and 7; (d) Experiment "
            "4, the BOS-MLP of layer 1 in RoPE and of layer 2 in DroPE, and Experiment 6, in layer 1 the MLP, "
            "attention, or both at BOS; (e) Experiment 8, share of the summed norms for content tokens and BOS; (f) "
            f"Experiment 10, 95 % Wilson intervals, {beyond['trials'][('lengths', 'RoPE')]} and "
            f"{beyond['trials'][('errors', 'RoPE')]} trials. Logarithmic axes in (b) and (d). Units differ by panel."
        ),
        short="The DroPE experiments in six panels",
    )


def _bar_panel(
    title: str,
    label: str,
    names: list[str],
    heights: Callable[[str, str], Sequence[float] | pd.Series],
    spread: Callable[[str], pd.Series] | None = None,
    log_range: tuple[float, float] | None = None,
) -> Panel:
    bars = []
    for entity, model in MODELS.items():
        y = pd.Series(heights(entity, model), dtype=float).to_numpy()
        sd = spread(entity).to_numpy() if spread else None
        ends = {} if sd is None else {"low": y - sd, "high": y + sd}
        bars.append(Bars(entity=entity, x=names, y=y, **ends))
    if log_range is None:
        return Panel(title=title, series=bars, y=Axis(label=label, zero=True))
    low, high = log_range
    axis = Axis(label=label, scale="log", low=low, high=high)
    return Panel(title=title, series=bars, y=axis, rules=[Rule(at=1)] if low < 1 else [])
