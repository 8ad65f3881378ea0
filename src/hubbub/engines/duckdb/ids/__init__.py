"""Whether somebody has several rows, told from the ids alone, at any size."""
