"""Counts by several columns, and their margins, under one promise."""
