"""Sums of a column, by bins or of all: capped, or in layers."""
