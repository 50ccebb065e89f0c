"""Hadoop clusters: on the hosts of an allocation, or already running somewhere."""
