"""Records that a crowd shares: the k-anonymity that can be proved."""
