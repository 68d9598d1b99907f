"""The captured models side by side."""
