"""The energy of a run: from the series of its meters to samples, with what is known of their errors."""
