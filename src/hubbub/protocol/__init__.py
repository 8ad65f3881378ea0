"""What a kind of release is: spec, result, release, and the options, checks and drawings they speak in."""
