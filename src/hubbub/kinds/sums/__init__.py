"""Numbers by bins: one mechanism, and a file for each statistic that declares one. Read `sums` first."""
