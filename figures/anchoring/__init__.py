"""Delta P over the layers: what documents say of it, and what models measured here show."""
