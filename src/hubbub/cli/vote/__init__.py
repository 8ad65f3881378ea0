"""``hubbub vote``: elections."""
