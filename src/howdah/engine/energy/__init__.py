"""The energy of a run: from the series of its meters to samples with their known errors."""
