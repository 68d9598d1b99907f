"""Group thousands by the one rule of tables, figures, captions and prose."""


def group_digits(whole: str) -> str:
    """Separate groups of three digits in a whole number by commas: `131,072`; the one rule of the project."""
    return f"{int(whole.replace(',', '')):,}"
