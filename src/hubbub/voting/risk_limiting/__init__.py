"""Risk-limiting audits: which statements about paper ballots prove that the winner won, and how many to look at."""
