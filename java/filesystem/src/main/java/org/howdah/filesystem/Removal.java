package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/** Deletes as HDFS does. */
final class Removal {
  private Removal() {}

  /**
   * The root stays, with all that is in it.
   *
   * @return whether something was deleted
   * @throws PathIsNotEmptyDirectoryException unless a directory with entries may go as a whole
   */
  static boolean remove(
      Path name, java.nio.file.Path located, java.nio.file.Path root, boolean recursive)
      throws IOException {
    try {
      if (located.equals(root)) {
        if (!recursive && !Tree.isEmpty(located)) {
          throw new DirectoryNotEmptyException(located.toString());
        }
        return false;
      }
      return remove(located, recursive);
    } catch (NoSuchFileException gone) {
      return false;
    } catch (DirectoryNotEmptyException e) {
      throw new PathIsNotEmptyDirectoryException(name.toString());
    }
  }

  private static boolean remove(java.nio.file.Path located, boolean recursive) throws IOException {
    try {
      Tree.delete(located);
    } catch (DirectoryNotEmptyException e) {
      if (!recursive) {
        throw e;
      }
      Tree.deleteAll(located);
    } catch (FileSystemException e) {
      if (Tree.isUnderFile(located)) {
        return false;
      }
      throw e;
    }
    return true;
  }
}
