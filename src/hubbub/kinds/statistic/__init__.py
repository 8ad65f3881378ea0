"""A count, a fraction, a mean or a quantile, of everybody or by bins."""
