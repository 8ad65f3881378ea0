"""Statistics of a social network."""
