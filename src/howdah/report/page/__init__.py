"""The report of one run or of several runs of the same kind."""
