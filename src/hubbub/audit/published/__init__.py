"""What published tables determine together about the cells that they hide."""
