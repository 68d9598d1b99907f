"""List paths of tables that code reads by name, relative to the project's folder, and the endings of table files."""

SCHEMA = "artifacts/datapackage.yaml"
TABLES = "tables.yaml"  # file in a package with descriptions of the tables that it reads or writes by name
SOURCES = "artifacts/sources"
VOCABULARY = "paper/vocabulary.yaml"
DOCUMENTS = "artifacts/sources/documents.csv"
CSV, PARQUET = ".csv", ".parquet"
SUFFIXES = (CSV, PARQUET)  # endings of tables; Parquet is for large measurements
PLACES = "artifacts/sources/places.csv"
