"""Delta P over layers, as documents report it and as measured here."""
