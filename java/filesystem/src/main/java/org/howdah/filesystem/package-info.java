/**
 * A Hadoop file system over any mounted POSIX file system: {@code lustrefs:} and {@code posixfs:}.
 *
 * <p>{@code MountedFileSystem} is what Hadoop calls; {@code Mount} knows where paths are, {@code
 * Tree} changes directories, {@code FileInput} and {@code FileOutput} move bytes, {@code Errors}
 * says what went wrong in Hadoop's words.
 */
package org.howdah.filesystem;
