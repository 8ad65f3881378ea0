"""The total privacy loss of several releases: exact convolution of their losses, or bounds for adaptively chosen ones."""
