"""Several questions on one secret sample."""
