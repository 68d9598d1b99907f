"""Paths of the tables that machinery reads by name, relative to the project's folder; how those of tables end."""

SCHEMA = "artifacts/datapackage.yaml"
TABLES = "tables.yaml"  # of a package: descriptions of the tables that it reads or writes by name
DOCUMENTS = "artifacts/sources/documents.csv"
MODELS = "artifacts/sources/models.csv"
FAMILIES = "artifacts/sources/families.csv"
SUBJECTS = "artifacts/sources/subjects.csv"
CSV, PARQUET = ".csv", ".parquet"
SUFFIXES = (CSV, PARQUET)  # of tables; one of Parquet is a large measurement
PLACES = "artifacts/sources/places.csv"
KEY_TABLES = (MODELS, FAMILIES, DOCUMENTS, "artifacts/sources/checkpoints.csv", PLACES)
