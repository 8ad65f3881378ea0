"""Try to break every promise: exact laws, frozen noise, many runs, and published files against each other."""
