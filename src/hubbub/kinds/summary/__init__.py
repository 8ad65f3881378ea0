"""Several numbers of the same bins in one release."""
