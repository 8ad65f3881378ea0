"""Values as bytes, in one form only, and back."""
