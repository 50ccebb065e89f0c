package org.howdah.filesystem;

/**
 * {@code lustrefs:}: a mounted parallel file system, with Lustre's layouts. Set as {@code
 * fs.lustrefs.impl}.
 */
public final class LustreFileSystem extends MountedFileSystem {
  static final String SCHEME = "lustrefs";

  /** Called by Hadoop. */
  public LustreFileSystem() {
    super(SCHEME);
  }
}
