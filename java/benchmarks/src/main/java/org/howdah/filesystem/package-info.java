/**
 * What any file system of Hadoop's does in a second; {@code benchmarks/filesystems.py} starts it,
 * one JVM per figure.
 */
package org.howdah.filesystem;
