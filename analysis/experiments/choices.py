"""What the commands of the experiments offer: names only, so that `--help` needs none of their libraries."""

ESTIMATORS = ("bucket_full", "pooled_full", "pooled_diag", "bucket_diag", "empirical")
PAIRS = ("earlier", "earlier_bucket", "same_bucket")
SEPARATIONS = ("distance", "centroid")
DTYPES = ("auto", "bf16", "fp16", "fp32")
QUANTIZATIONS = ("nf4", "fp4", "int8")
POSITIONS = ("as configured", "rope", "drope")
EXECUTORS = ("local", "slurm")
EXPERIMENTS = (
    "massive_values",
    "disruption",
    "knowledge",
    "sinks",
    "bos_value",
    "layer_ablation",
    "attention_patterns",
    "layer_content",
    "crosslayer_balance",
    "context_length",
    "geometry",
    "head_ablation",
    "text_kinds",
    "softmax_globality",
)
STATEMENTS = ("planted", "popqa", "triviaqa", "hotpotqa", "nq")
