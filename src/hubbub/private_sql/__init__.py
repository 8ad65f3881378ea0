"""Private SQL: a SELECT that says what is promised, read as the words that ask for a release; no engine sees its text."""
