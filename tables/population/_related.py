"""Printed names of the metrics in tables of relations."""

METRICS = {
    "h1_plasticity": "late plasticity",
    "h3_bias": "bias per token",
    "h3_bias_window": "bias over the window",
    "drop_decline": "drop of plasticity",
    "head_damage": "plasticity",
    "head_damage_late": "late plasticity",
    "head_damage_bias": "bias per token",
}
