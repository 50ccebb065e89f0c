"""Howdah: get a Hadoop cluster, find out with evidence what makes it fast, and make it faster."""

__version__ = "0.1.0"
