"""Compare the effects that the thesis rests on: each in its unit, with its interval and the ledger's verdict."""

from dataclasses import dataclass

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.frames import pick

CORRELATION, POINTS, NATS, RATIO = "correlation", "points", "nats", "ratio"
TEST, ROUNDING = "95 %", "rounding"  # what an interval leaves open


@dataclass(frozen=True, kw_only=True)
class _Effect:
    """The place of an effect: a row of a result, its name in print, and the claim that it decides.

    `factor` brings the number to its scale; with -1 or -100 a loss becomes a change. `values` counts the printed
    values behind a ratio.
    """

    claim: str
    name: str
    result: str
    where: dict[str, str]
    factor: float = 1.0
    columns: tuple[str, str, str] = ("estimate", "ci_low", "ci_high")
    interval: str = TEST
    values: int = 0


def _effect_of_test(claim: str, name: str, result: str, comparison: str, test: str, factor: float = 1.0) -> _Effect:
    """Return an estimate, found by its comparison and test."""
    where = {"comparison": comparison, "test": test}
    return _Effect(claim=claim, name=name, result=result, where=where, factor=factor)


def _effect_of_ratio(claim: str, name: str, result: str, values: int, fold: bool = False, **where: str) -> _Effect:
    """Return a ratio of two printed numbers, after over before, or before over after if it is called a fold."""
    kind = "fold" if fold else "ratio"
    columns = (kind, f"{kind}_low", f"{kind}_high")
    return _Effect(
        claim=claim, name=name, result=result, where=where, columns=columns, interval=ROUNDING, values=values
    )


_EFFECTS: dict[str, tuple[_Effect, ...]] = {
    CORRELATION: (
        _effect_of_test("c002_aggregate_predicts", "overall plasticity, score",
              "lbp_correlations", "ap_overall", "pearson"),
        _effect_of_test("c002_drop_most_informative", "drop, score", "lbp_correlations", "ap_drop", "pearson"),
        _effect_of_test("c002_h1_ordering", "gain in rank correlation, drop over overall",
              "correlation_contrasts", "ap_drop - ap_overall, n = 7", "spearman_difference"),
        _effect_of_test("c002_h3_relative_decline.nonthinking", "drop, loss of score with length, no thinking",
              "length_decline_tests", "ap_drop, nonthinking, n = 8", "pearson"),
        _effect_of_test("c002_h3_relative_decline.thinking", "drop, loss of score with length, thinking",
              "length_decline_tests", "ap_drop, thinking, n = 8", "pearson"),
        _effect_of_test("c001_longbench_correlates", "steps of plasticity and score, Ministral-3-14B",
              "lbp_length_tests", "ministral3-14b, thinking", "pearson_first_differences"),
        _effect_of_test("c002_llama_tracks", "steps of plasticity and RULER, Llama-3.1-8B",
              "ruler_tests", "llama3.1-8b", "pearson_first_differences"),
        _effect_of_test("c002_h4_not_sufficient", "drop, bias per token over training",
              "training_tests", "ap_drop against bias per token, all checkpoints", "pearson"),
        _effect_of_test("c002_h6_independent", "drop, bias per window over training",
              "training_tests", "ap_drop against bias per window, all checkpoints", "pearson"),
        _effect_of_test("c002_drop_beyond_bias", "drop, bias, all models over one window",
              "bias_plasticity_tests", "per token, models over the same window", "pearson"),
        _effect_of_test("c004_pat_nearly_identical", "attention to BOS by layer, RoPE and DroPE",
              "attention_tests", "bos, all layers", "pearson"),
    ),
    POINTS: (
        _effect_of_test("c004_rope_passkey", "passkey, RoPE, Experiment 3",
              "knowledge_tests", "RoPE passkey", "fisher_exact", -100),
        _effect_of_test("c004_drope_passkey_unaffected", "passkey, DroPE, Experiment 3",
              "knowledge_tests", "DroPE passkey", "fisher_exact", -100),
        _effect_of_test("c004_qk_passkey.drope", "passkey, DroPE, Experiment 4",
              "functional_tests", "DroPE, passkey, qk_disruption against baseline", "fisher_exact", 100),
        _effect_of_test("c004_drope_unchanged", "passkey, DroPE, BOS MLP output off in layer 2",
              "functional_tests", "DroPE, passkey, bos_mlp_ablation against baseline", "fisher_exact", 100),
        _effect_of_test("c004_attention_preserves_parametric.sports", "sports, RoPE, attention of layer 1 off",
              "layer1_task_tests", "RoPE, sports, layer1_attn against baseline", "fisher_exact", 100),
        _effect_of_test("c004_ctx_same_protocols", "passkey at 8192 tokens, DroPE, run less run",
              "context_tests", "8192: lengths against errors", "fisher_exact", 100),
    ),
    NATS: (
        _effect_of_test("c004_text_types.order", "RoPE",
              "disruption_tests", "RoPE: massive against random", "log_perplexity_difference"),
        _effect_of_test("c004_drope_nonfunctional", "DroPE",
              "disruption_tests", "DroPE: massive against random", "log_perplexity_difference"),
        _effect_of_test("c004_reliance.reliance", "RoPE less DroPE",
              "disruption_tests", "RoPE against DroPE: massive less random", "log_perplexity_contrast"),
    ),
    RATIO: (
        _effect_of_ratio("c002_bias_falls_tenfold", "bias per token, before over after extensions",
               "training_changes", 2, fold=True, span="extensions", metric="bias_strength"),
        _effect_of_ratio("c002_bias_collapse", "bias per window, after over before extensions",
               "training_changes", 2, span="extensions", metric="bias_window"),
        _effect_of_ratio("c004_mlp_over_attention.number", "layer 1, RoPE, MLP off over attention off",
               "layer1_contrasts", 2, contrast="mlp_over_attention", positional="RoPE"),
        _effect_of_ratio("c004_bos_mlp_gap", "BOS MLP output off, RoPE over DroPE, layers 1 and 2",
               "bos_ablation_contrasts", 4, ablation="bos_mlp_spike_layer"),
        _effect_of_ratio("c004_only_rope_stores", "BOS outputs off, RoPE over DroPE, both layer 1",
               "bos_ablation_contrasts", 4, ablation="layer1_bos_only"),
    ),
}  # fmt: skip


def effect_overview(
    claims: pd.DataFrame,
    lbp_correlations: pd.DataFrame,
    correlation_contrasts: pd.DataFrame,
    length_decline_tests: pd.DataFrame,
    lbp_length_tests: pd.DataFrame,
    ruler_tests: pd.DataFrame,
    training_tests: pd.DataFrame,
    training_changes: pd.DataFrame,
    bias_plasticity_tests: pd.DataFrame,
    attention_tests: pd.DataFrame,
    knowledge_tests: pd.DataFrame,
    functional_tests: pd.DataFrame,
    layer1_task_tests: pd.DataFrame,
    layer1_contrasts: pd.DataFrame,
    bos_ablation_contrasts: pd.DataFrame,
    context_tests: pd.DataFrame,
    disruption_tests: pd.DataFrame,
) -> pd.DataFrame:
    """The effects that the chapters cite, by scale, each with its interval and the verdict of its claim.

    One row per effect: correlations, changes in percentage points, differences of mean log-perplexity in nats, and
    ratios, whose intervals are those that rounding leaves open. An interval that a test gives beyond what is possible
    is kept as it is. Raises DataError when no row or several rows of a result are an effect, or the ledger lacks its
    claim.
    """
    results = {name: frame for name, frame in locals().items() if isinstance(frame, pd.DataFrame)}
    verdicts = claims.set_index("claim")["verdict"]
    rows = []
    for scale, effects in _EFFECTS.items():
        for effect in effects:
            row = pick(results[effect.result], **effect.where)
            if effect.claim not in verdicts.index:
                raise DataError(f"effect_overview: the ledger has no claim {effect.claim!r}; name the claim it decides")
            low, high = sorted(effect.factor * float(row[name]) for name in effect.columns[1:])
            rows.append(
                {
                    "scale": scale,
                    "effect": effect.name,
                    "claim": effect.claim,
                    "verdict": str(verdicts[effect.claim]),
                    "estimate": effect.factor * float(row[effect.columns[0]]),
                    "low": low,
                    "high": high,
                    "interval": effect.interval,
                    "unit": str(row["unit"]) if effect.interval == TEST else "printed value",
                    "n": int(row["n"]) if effect.interval == TEST else effect.values,
                }
            )
    return pd.DataFrame(rows)
