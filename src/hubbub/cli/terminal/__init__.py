"""What a terminal shows: paragraphs, tables and progress, as wide as it is."""
