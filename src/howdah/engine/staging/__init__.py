"""Copying between a file system that hosts share and HDFS, with proof of what arrived."""
