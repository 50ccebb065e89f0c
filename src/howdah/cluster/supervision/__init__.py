"""The process that keeps a cluster running, and the way in which commands find it and talk to it."""
