"""Invented rows with about the tables of a real table: a graphical model of noisy tables, and people drawn from it."""
