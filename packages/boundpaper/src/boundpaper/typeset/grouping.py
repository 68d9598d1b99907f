"""Separate thousands in the same way in tables, figures, captions and prose."""


def group_digits(digits: str) -> str:
    """Return the digits of a whole number with commas between thousands: `131,072`."""
    return f"{int(digits.replace(',', '')):,}"
