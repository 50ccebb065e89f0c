"""A cluster that is up, as runs and other programs use it."""
