"""Elections in which telling the truth is the best move, and exact numbers for how good it is."""
