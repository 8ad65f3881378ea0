"""What a release can be asked, as values that are written in one text and check themselves."""
