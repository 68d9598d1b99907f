"""Thousands: the one rule of tables, figures, captions and prose."""


def grouped(whole: str) -> str:
    """Set groups of three digits of a whole number apart by commas: `131,072`; the one rule of the project."""
    return f"{int(whole.replace(',', '')):,}"
