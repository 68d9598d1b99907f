"""Claims on document 004: massive values, their disruption, and knowledge."""
