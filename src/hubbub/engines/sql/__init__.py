"""Counting in databases: one set of queries, and a dialect for each database."""
