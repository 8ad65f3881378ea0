"""``hubbub channel``: laws and profiles of count channels."""
