"""A quantile by bins: it is no sum, and stands beside them."""
