"""Paths of the tables that machinery reads by name, relative to the project's folder."""

SCHEMA = "artifacts/datapackage.yaml"
DOCUMENTS = "artifacts/sources/documents.csv"
MODELS = "artifacts/sources/models.csv"
FAMILIES = "artifacts/sources/families.csv"
SUBJECTS = "artifacts/sources/subjects.csv"
KEY_TABLES = (MODELS, FAMILIES, DOCUMENTS, "artifacts/sources/checkpoints.csv", "artifacts/sources/places.csv")
