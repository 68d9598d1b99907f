"""Delta P over layers: what documents say of it, and what models measured here show."""
