"""The report that compares two groups of runs."""
