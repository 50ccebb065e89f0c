"""Executing trials: from settings to a closed run directory."""
