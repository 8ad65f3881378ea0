"""Definitions of privacy as values, and the theorems that derive one guarantee from another. Pure functions: no data."""
