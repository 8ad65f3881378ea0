"""Rules that look at pairs of candidates, and elect whoever beats everybody one to one, if anybody does."""
