"""A differentially private mechanism of the user's own, on secret people."""
