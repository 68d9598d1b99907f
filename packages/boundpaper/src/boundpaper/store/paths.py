"""List paths of tables that code reads by name, relative to the project's folder, and endings of table files."""

SCHEMA = "artifacts/datapackage.yaml"
TABLES = "tables.yaml"  # of a package: descriptions of the tables that it reads or writes by name
SOURCES = "artifacts/sources"
VOCABULARY = "paper/vocabulary.yaml"
DOCUMENTS = "artifacts/sources/documents.csv"
CSV, PARQUET = ".csv", ".parquet"
SUFFIXES = (CSV, PARQUET)  # of tables; one of Parquet is a large measurement
PLACES = "artifacts/sources/places.csv"
