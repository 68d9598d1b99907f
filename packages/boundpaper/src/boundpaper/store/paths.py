"""List the paths of files that the engine reads, relative to the project's folder, and the endings of tables."""

SCHEMA = "artifacts/datapackage.yaml"
TABLES = "tables.yaml"  # in the folder of a package: describes the tables that the package reads or writes
SOURCES = "artifacts/sources"
VOCABULARY = "paper/vocabulary.yaml"
DOCUMENTS = "artifacts/sources/documents.csv"
CSV, PARQUET = ".csv", ".parquet"
SUFFIXES = (CSV, PARQUET)  # endings of tables; Parquet is for large measurements
PLACES = "artifacts/sources/places.csv"
