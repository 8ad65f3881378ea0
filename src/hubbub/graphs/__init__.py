"""Statistics of a social network, private for a vertex with all its edges."""
