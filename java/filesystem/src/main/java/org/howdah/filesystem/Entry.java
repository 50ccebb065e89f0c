package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;

/** What one {@code stat} says of a file, directory or link. */
final class Entry {
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;
  private static final int FILE = 0100000;
  private static final int LINK = 0120000;
  private static final int PERMISSIONS = 01777;
  private static final String ATTRIBUTES =
      "unix:mode,size,uid,gid,dev,ino,lastModifiedTime,lastAccessTime,creationTime";
  private static final LinkOption[] FOLLOW = {};
  private static final LinkOption[] STAY = {LinkOption.NOFOLLOW_LINKS};

  final int mode;
  final long size;
  final int user;
  final int group;
  final long device;
  final long inode;
  final long modified;
  final long accessed;

  /** When it was made; of the last modification where the machine or this Java does not know. */
  final long made;

  private Entry(Map<String, Object> found) {
    mode = (Integer) found.get("mode");
    size = (Long) found.get("size");
    user = (Integer) found.get("uid");
    group = (Integer) found.get("gid");
    device = (Long) found.get("dev");
    inode = (Long) found.get("ino");
    modified = ((FileTime) found.get("lastModifiedTime")).toMillis();
    accessed = ((FileTime) found.get("lastAccessTime")).toMillis();
    made = ((FileTime) found.get("creationTime")).toMillis();
  }

  /** Of the path itself, be it a link. One system call. */
  static Entry of(Path path) throws IOException {
    return new Entry(Files.readAttributes(path, ATTRIBUTES, STAY));
  }

  /** Of what the path leads to. One system call. */
  static Entry followed(Path path) throws IOException {
    return new Entry(Files.readAttributes(path, ATTRIBUTES, FOLLOW));
  }

  /**
   * Whether a path leads to a directory.
   *
   * @throws IOException if the storage failed, by which nothing is known
   */
  static boolean isDirectory(Path path) throws IOException {
    Entry seen = ifThere(path);
    return seen != null && seen.isDirectory();
  }

  /** Whether a path leads anywhere; throws like {@link #isDirectory}. */
  static boolean isThere(Path path) throws IOException {
    return ifThere(path) != null;
  }

  /** Whether a path is itself a link; throws like {@link #isDirectory}. */
  static boolean isLink(Path path) throws IOException {
    Entry seen = seen(path, STAY);
    return seen != null && seen.isLink();
  }

  /** Of what a path leads to; null if that is nothing. Throws like {@link #isDirectory}. */
  static Entry ifThere(Path path) throws IOException {
    return seen(path, FOLLOW);
  }

  private static Entry seen(Path path, LinkOption[] options) throws IOException {
    try {
      return new Entry(Files.readAttributes(path, ATTRIBUTES, options));
    } catch (IOException e) {
      if (Errors.isFailure(e)) {
        throw e;
      }
      return null;
    }
  }

  /** By which this very file, and not what it is linked from, is asked for more. */
  LinkOption[] options() {
    return isLink() ? STAY : FOLLOW;
  }

  boolean isDirectory() {
    return (mode & TYPE) == DIRECTORY;
  }

  boolean isFile() {
    return (mode & TYPE) == FILE;
  }

  boolean isLink() {
    return (mode & TYPE) == LINK;
  }

  /** Whether both are of one file, whatever its names. */
  boolean isSame(Entry other) {
    return inode == other.inode && device == other.device;
  }

  /** Permission bits with the sticky bit, the only one of the special ones that Hadoop knows. */
  short permissions() {
    return (short) (mode & PERMISSIONS);
  }
}
