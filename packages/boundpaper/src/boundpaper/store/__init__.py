"""Read, check, write and compare artifacts, and read the tables that list the judged documents and the families."""
