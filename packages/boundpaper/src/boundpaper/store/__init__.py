"""Read, check, write and compare artifacts, and read the tables of documents and families."""
