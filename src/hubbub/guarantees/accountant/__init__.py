"""What several releases lose together: the laws of their losses, added up exactly, or bounded however each was chosen."""
