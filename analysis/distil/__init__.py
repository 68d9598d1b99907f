"""Self-distillation of a rotary model: into one without rotation, and into its control that keeps it."""
