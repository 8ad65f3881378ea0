"""What is promised: definitions as values, and the theorems that turn one into another. Pure."""
