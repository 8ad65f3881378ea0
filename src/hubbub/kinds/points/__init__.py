"""Points with noise, and synthetic ones near them."""
