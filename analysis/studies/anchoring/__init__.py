"""Delta P over layers: reported in documents, and measured here."""
