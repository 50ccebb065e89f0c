package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * Renames with HDFS's rules, which differ from POSIX's: nothing is replaced unless that is asked
 * for.
 */
final class Renames {
  private final Mount mount;
  private final Settings settings;

  Renames(Mount mount, Settings settings) {
    this.mount = mount;
    this.settings = settings;
  }

  /**
   * Into a directory if the destination is one.
   *
   * @return false, with nothing changed, where HDFS's rename says so: no source, something in the
   *     way, no parent, a directory under itself
   */
  boolean rename(org.apache.hadoop.fs.Path source, org.apache.hadoop.fs.Path destination)
      throws IOException {
    Path from = mount.locate(source);
    Path to = mount.locate(destination);
    requireSync(from, to);
    if (!settings.renameNative && isRenamedAtOnce(from, to)) {
      sync(from, to);
      return true;
    }
    Entry moved = found(from);
    if (moved == null || from.equals(mount.root())) {
      return false;
    }
    if (!to.equals(from) && Entry.isDirectory(to)) {
      to = mount.locateTarget(destination).resolve(from.getFileName());
      requireSync(from, to);
    }
    if (to.equals(from)) {
      return !moved.isDirectory();
    }
    if (to.startsWith(from)) {
      return false;
    }
    try {
      // That there is a directory for it, and nothing in its way, the kernel says.
      Tree.rename(from, moved.isDirectory(), to, settings.renameNative);
    } catch (java.nio.file.FileAlreadyExistsException | NoSuchFileException refused) {
      return false;
    } catch (FileSystemException e) {
      if (Tree.isUnderFile(to)) {
        return false;
      }
      throw e;
    }
    sync(from, to);
    return true;
  }

  /**
   * To exactly that name.
   *
   * @param overwrite whether a file or an empty directory there is replaced, in one step
   */
  void rename(
      org.apache.hadoop.fs.Path source, org.apache.hadoop.fs.Path destination, boolean overwrite)
      throws IOException {
    Path from = mount.locate(source);
    Path to = mount.locate(destination);
    Entry moved = found(from);
    if (moved == null) {
      throw new FileNotFoundException("rename " + source + ": no such file or directory");
    }
    if (from.equals(mount.root()) || to.equals(mount.root())) {
      throw new PathIOException(source.toString(), "the root can be neither end of a rename");
    }
    requireDirectory(destination.getParent(), to.getParent());
    requireSync(from, to);
    Entry there = found(to);
    refuse(source, destination, moved, there);
    if (moved.isLink() && there != null && Files.isSameFile(from, to)) {
      throw new FileAlreadyExistsException("rename " + source + ": it is a link to " + destination);
    }
    if (to.equals(from)) {
      throw new FileAlreadyExistsException("rename " + source + ": it has that name already");
    }
    if (to.startsWith(from)) {
      throw new PathIOException(
          source.toString(), "a directory cannot be renamed to " + destination + ", inside itself");
    }
    if (!overwrite) {
      if (there != null) {
        throw new FileAlreadyExistsException(
            "rename " + source + ": " + destination + " exists already");
      }
      Tree.rename(from, moved.isDirectory(), to, settings.renameNative);
    } else {
      if (there != null && there.isDirectory() && !Tree.isEmpty(to)) {
        throw new PathIsNotEmptyDirectoryException(destination.toString());
      }
      if (there != null && !moved.isDirectory() && moved.isSame(there)) {
        // Two names of one file, which the kernel's rename leaves as they are.
        Tree.delete(from);
      } else {
        Tree.replace(from, to);
      }
    }
    sync(from, to);
  }

  private static void refuse(
      org.apache.hadoop.fs.Path source,
      org.apache.hadoop.fs.Path destination,
      Entry moved,
      Entry there)
      throws IOException {
    if (there != null && moved.isDirectory() != there.isDirectory()) {
      throw new PathIOException(
          source.toString(),
          "one of it and " + destination + " is a directory and the other is not");
    }
  }

  private void requireSync(Path from, Path to) throws IOException {
    if (settings.syncDirectories) {
      Tree.requireSync(to.getParent());
      Tree.requireSync(from.getParent());
    }
  }

  private void sync(Path from, Path to) throws IOException {
    if (settings.syncDirectories) {
      Tree.sync(to.getParent());
      if (!from.getParent().equals(to.getParent())) {
        Tree.sync(from.getParent());
      }
    }
  }

  /** The usual case, a file and a new name in a directory: nothing has to be looked at before. */
  private static boolean isRenamedAtOnce(Path from, Path to) throws IOException {
    try {
      return Tree.renameFile(from, to);
    } catch (java.nio.file.FileAlreadyExistsException | NoSuchFileException other) {
      return false;
    }
  }

  /** Null if there is nothing. */
  private static Entry found(Path path) throws IOException {
    try {
      return Entry.of(path);
    } catch (NoSuchFileException none) {
      return null;
    } catch (FileSystemException e) {
      if (Tree.isUnderFile(path)) {
        return null;
      }
      throw e;
    }
  }

  private static void requireDirectory(org.apache.hadoop.fs.Path name, Path directory)
      throws IOException {
    try {
      if (!Entry.followed(directory).isDirectory()) {
        throw new ParentNotDirectoryException(name + ": not a directory");
      }
    } catch (NoSuchFileException none) {
      throw new FileNotFoundException(name + ": no such directory");
    }
  }
}
