package org.howdah.filesystem;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * What Hadoop is told of a file, and which file it is. Whether it has an access control list is
 * looked for when asked, which few programs do.
 */
final class Status extends FileStatus {
  private static final long serialVersionUID = 1L;

  /** Null once it has been sent to another process. */
  private final transient java.nio.file.Path located;

  final transient Entry entry;
  private transient Boolean acl;

  /**
   * @param path qualified
   * @param located where it is
   * @param target of a link, else null
   */
  Status(
      Path path,
      java.nio.file.Path located,
      Entry entry,
      long blockSize,
      FsPermission permission,
      String user,
      String group,
      Path target)
      throws IOException {
    super(
        entry.isDirectory() ? 0 : entry.size,
        entry.isDirectory(),
        entry.isDirectory() ? 0 : 1,
        blockSize,
        entry.modified,
        entry.accessed,
        permission,
        user,
        group,
        target,
        path);
    this.located = located;
    this.entry = entry;
  }

  @Override
  public boolean hasAcl() {
    if (acl == null) {
      acl = located != null && !isSymlink() && Acls.exists(located);
    }
    return acl;
  }
}
