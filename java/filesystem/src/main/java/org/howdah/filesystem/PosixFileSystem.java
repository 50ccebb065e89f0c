package org.howdah.filesystem;

/**
 * {@code posixfs:}: any directory of this machine, shared with others or not. Set as {@code
 * fs.posixfs.impl}.
 */
public final class PosixFileSystem extends MountedFileSystem {
  static final String SCHEME = "posixfs";

  /** Called by Hadoop. */
  public PosixFileSystem() {
    super(SCHEME);
  }
}
