"""The report of one run or of several alike."""
