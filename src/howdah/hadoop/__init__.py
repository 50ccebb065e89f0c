"""Stock Apache Hadoop: where it comes from, what runs it, and what it is configured with."""
