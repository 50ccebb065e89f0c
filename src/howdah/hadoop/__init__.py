"""Stock Apache Hadoop: its releases, the programs that run it, and its configuration."""
