"""Group thousands in the same way in tables, figures, captions and prose."""


def group_digits(digits: str) -> str:
    """Return a whole number with thousands separated by commas: `131,072`."""
    return f"{int(digits.replace(',', '')):,}"
