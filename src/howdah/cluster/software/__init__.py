"""Hadoop, our jars and a JDK on the hosts."""
