"""The process that keeps a cluster running, and how commands find it and talk to it."""
