package org.howdah.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * System calls that Java does not have. Only JNA brings them, which is among Hadoop's jars; where
 * it is not, or its library cannot be loaded, what needs them is absent.
 */
interface Native {
  /**
   * {@code renameat2} with {@code RENAME_NOREPLACE}.
   *
   * @return false if the kernel or the file system does not have it; nothing has happened then
   * @throws java.nio.file.FileAlreadyExistsException if there is something under the new name
   */
  boolean renameNoReplace(Path from, Path to) throws IOException;

  /** Space of a file beyond its end, by {@code fallocate}; holds the file open. */
  interface Reservation extends Closeable {
    /** Gives back what lies behind this length, if it is that of the file. */
    void giveBack(long length) throws IOException;
  }

  /** Null if the file system does not have it, or the file may not be opened. */
  Reservation allocate(Path file, long bytes) throws IOException;

  /** {@code getxattr}; null if there is no such attribute. */
  byte[] attribute(Path path, String name) throws IOException;

  /** {@code setxattr}. */
  void setAttribute(Path path, String name, byte[] value) throws IOException;

  /** {@code removexattr}; nothing happens if there is no such attribute. */
  void removeAttribute(Path path, String name) throws IOException;

  /** What a user may store on a device, and has stored: bytes. */
  final class Quota {
    final long limit;
    final long used;

    Quota(long limit, long used) {
      this.limit = limit;
      this.used = used;
    }
  }

  /** {@code quotactl} of this process's user; null where there is no limit, or none to be read. */
  Quota quota(String device);

  /** {@code getpwnam}; also of a number. */
  int userId(String name) throws IOException;

  /** {@code getgrnam}; also of a number. */
  int groupId(String name) throws IOException;

  /** {@code getpwuid}; the number itself if it has no name. */
  String userName(int id);

  /** {@code getgrgid}; the number itself if it has no name. */
  String groupName(int id);

  /** Null where there is none. The first call loads it, which takes some 100 ms. */
  static Native get() {
    return Holder.FOUND;
  }

  /** Loads once, when first asked for. */
  final class Holder {
    private static final Native FOUND = find();

    private Holder() {}

    private static Native find() {
      try {
        return (Native)
            Class.forName("org.howdah.filesystem.JnaCalls").getDeclaredConstructor().newInstance();
      } catch (ReflectiveOperationException | LinkageError absent) {
        return null;
      }
    }
  }
}
