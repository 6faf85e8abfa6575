"""Tasks of the benchmark, by what they measure; each takes its options and gives a dict for JSON."""
