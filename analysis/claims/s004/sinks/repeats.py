"""Document 004, Experiments 4 to 6: claims on values that prose and captions repeat from tables."""

from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Repeats
from boundpaper.claims.terms import ArtifactCell

STATED = Artifact("drope_stated", "the first mention")
FUNCTIONAL = Artifact("drope_functional", "the condition table")
PHASE = Artifact("drope_phase", "the phase table")
LAYER1 = Artifact("drope_layer1_massive", "the table of layer 1")
LAYER1_TASKS = Artifact("drope_layer1_tasks", "the task table").where(positional="RoPE", condition="layer1_attn")
RATIOS = Artifact("drope_layer1_perplexity", "the perplexity table").where(metric="ppl_ratio")
WRITE = Artifact("drope_bos_write", "the write table")

INCREASE = LAYER1(layers="1", positional="DroPE", metric="change_from_rope").by("c004_layer1_tensors")
NO_TASK_LEFT = "c004_rope_fails_all_tasks"


def _phase_cell(model: str, metric: str) -> ArtifactCell:
    return PHASE(positional=model, metric=metric).by(f"c004_phase_cells.{model}-{metric}")


def _spike_layer_cell(model: str) -> ArtifactCell:
    return PHASE(positional=model, metric="bos_spike_layer").by(f"c004_spike_layers.{model.lower()}")


def _task_cell(model: str, task: str, condition: str) -> ArtifactCell:
    return FUNCTIONAL(positional=model, task=task, condition=condition)


def _write_cell(model: str, metric: str) -> ArtifactCell:
    return WRITE(positional=model, metric=metric).by(f"c004_bos_write_cells.{model}-{metric}")


def _ablation_ratio_cell(model: str, condition: str) -> ArtifactCell:
    return RATIOS(positional=model, condition=condition).by(f"c004_layer1_ratios.{model}-{condition}")


def _layer1_count_cell(model: str) -> ArtifactCell:
    return LAYER1(layers="1", positional=model, metric="count").by(f"c004_layer1_counts.{model}")


c004_exp4_repeats = Cells(
    "The prose of Experiment 4 repeats its tables.",
    "004, 5.4 Additional Phase Metrics and 5.5 Interpretation",
    Repeats(
        STATED,
        {
            "s5_2_rope_spike_layer": _spike_layer_cell("RoPE"),
            "s5_2_drope_spike_layer": _spike_layer_cell("DroPE"),
            "s5_4_rope_spike_layer": _spike_layer_cell("RoPE"),
            "s5_4_drope_spike_layer": _spike_layer_cell("DroPE"),
            "s5_4_rope_min_entropy": _phase_cell("RoPE", "min_entropy"),
            "s5_4_rope_min_entropy_layer": _phase_cell("RoPE", "min_entropy_layer"),
            "s5_4_drope_min_entropy": _phase_cell("DroPE", "min_entropy"),
            "s5_5_drope_sink_rate": Artifact("drope_sink_rates", "the sink-rate table")(
                layers="average", positional="DroPE"
            ).by("c004_sink_rate_cells.DroPE-average"),
            "s5_5_rope_accuracy": _task_cell("RoPE", "cities", "bos_mlp_ablation").by(NO_TASK_LEFT),
            "s5_5_rope_passkey_baseline": _task_cell("RoPE", "passkey", "baseline"),
            "s5_5_rope_passkey_qk": _task_cell("RoPE", "passkey", "qk_disruption"),
            "s5_5_drope_passkey_baseline": _task_cell("DroPE", "passkey", "baseline"),
            "s5_5_drope_passkey_qk": _task_cell("DroPE", "passkey", "qk_disruption"),
        },
    ),
)

c004_fig16_repeats = Cells(
    "The caption of the task figure repeats the condition table.",
    "004, 5.5 Interpretation, Figure 16",
    Repeats(
        Artifact("drope_captions"),
        {"fig_16_rope_accuracy": _task_cell("RoPE", "sports", "bos_mlp_ablation").by(NO_TASK_LEFT)},
    ),
)

c004_exp5_repeats = Cells(
    "The prose of Experiment 5 repeats its own and earlier tables.",
    "004, 6.1 Motivation to 6.5 The Massive Activation Connection",
    Repeats(
        STATED,
        {
            **{
                f"s6_1_{model.lower()}_bos_mlp": Artifact("drope_bos_mlp", "the BOS-MLP table")(
                    positional=model, metric="ppl_ratio"
                ).by(f"c004_bos_mlp_ratios.{model}")
                for model in PAIR
            },
            "s6_3_rope_write": _write_cell("RoPE", "effective_write"),
            "s6_3_rope_value_norm": _write_cell("RoPE", "bos_value_norm"),
            "s6_3_rope_max_write_layer": _write_cell("RoPE", "max_write_layer"),
            "s6_5_rope_spike_layer": _spike_layer_cell("RoPE"),
            "s6_3_drope_write": _write_cell("DroPE", "effective_write"),
            "s6_3_drope_value_norm": _write_cell("DroPE", "bos_value_norm"),
            "s6_3_drope_max_write_layer": _write_cell("DroPE", "max_write_layer"),
            "s6_5_drope_spike_layer": _spike_layer_cell("DroPE"),
            "s6_4_bos_value_ratio": STATED(statement="s6_3_bos_value_ratio").by(
                "c004_bos_value_four.rope", "c004_bos_value_four.drope"
            ),
            "s6_5_drope_qk_size": STATED(statement="s6_2_drope_qk_size").by("c004_qk_size.drope"),
            "s6_5_layer1_ratio": INCREASE,
        },
    ),
)

c004_exp6_repeats = Cells(
    "The prose of Experiment 6 repeats its own and earlier tables.",
    "004, 7.1 Motivation to 7.5 Interpretation",
    Repeats(
        STATED,
        {
            "s7_1_layer1_ratio": INCREASE,
            "s7_1_drope_count": _layer1_count_cell("DroPE"),
            "s7_1_rope_count": _layer1_count_cell("RoPE"),
            "s7_1_drope_max_write": STATED(statement="s6_5_drope_max_write").by("c004_max_write"),
            "s7_1_drope_qk_size": STATED(statement="s6_2_drope_qk_size").by("c004_qk_size.drope"),
            "s7_1_rope_qk_size": STATED(statement="s6_2_rope_qk_size").by("c004_qk_size.rope"),
            "s7_4_rope_mlp": _ablation_ratio_cell("RoPE", "layer1_mlp"),
            "s7_4_rope_attention": _ablation_ratio_cell("RoPE", "layer1_attn"),
            "s7_4_rope_cities": LAYER1_TASKS(task="cities"),
            "s7_4_rope_sports": LAYER1_TASKS(task="sports"),
            "s7_4_rope_passkey": LAYER1_TASKS(task="passkey"),
            "s7_4_drope_mlp": _ablation_ratio_cell("DroPE", "layer1_mlp"),
            "s7_4_rope_mlp_again": _ablation_ratio_cell("RoPE", "layer1_mlp"),
            "s7_5_rope_attention": _ablation_ratio_cell("RoPE", "layer1_attn"),
            "s7_5_rope_mlp": _ablation_ratio_cell("RoPE", "layer1_mlp"),
            "s7_5_layer1_ratio": INCREASE,
        },
    ),
)
