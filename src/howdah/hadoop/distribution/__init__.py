"""Releases of Hadoop and their needs: jars, JDK, commands, archive of classes, Spark."""
