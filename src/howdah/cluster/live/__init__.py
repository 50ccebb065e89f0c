"""A cluster that is up, as a run and other people's programs use it."""
