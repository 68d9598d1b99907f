"""Tabulate models that this project measured, with the columns of the tables of reported models."""
