"""SmolLM3 over its checkpoints."""
