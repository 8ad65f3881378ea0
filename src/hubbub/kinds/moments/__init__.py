"""The variance or standard deviation of a column, with its mean, by bins or of all."""
