"""Stand-ins that follow one curve of power, each with its own protocol."""
