"""Hadoop, Howdah's jars and a JDK on the hosts."""
