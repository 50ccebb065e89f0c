"""Releases of Hadoop and what they need: jars, JDK, commands, archive of classes, Spark."""
