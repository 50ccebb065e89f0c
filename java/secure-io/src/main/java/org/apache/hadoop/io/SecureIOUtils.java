package org.apache.hadoop.io;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Opens files of which an attacker may want to make others, in the place of Hadoop's class of this
 * name, which needs native code where security is on.
 *
 * <p>It is loaded for the shuffle service of a NodeManager alone ({@code SecureShuffle}), whose
 * containers all run as the user of the NodeManager, in directories that nobody else may enter. So
 * a file is to belong to that user, and to be no link: whom the job belongs to does not matter.
 */
public class SecureIOUtils {
  /** Opens a file at any place; {@code owner} and {@code group} are as in Hadoop's method. */
  public static RandomAccessFile openForRandomRead(
      File file, String mode, String owner, String group) throws IOException {
    check(file);
    return new RandomAccessFile(file, mode);
  }

  /** Opens a file as a stream of Hadoop's; {@code owner} and {@code group} are as there. */
  public static FSDataInputStream openFSDataInputStream(File file, String owner, String group)
      throws IOException {
    check(file);
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(file.getAbsolutePath());
    return FileSystem.getLocal(new Configuration()).getRaw().open(path);
  }

  /** Opens a file as a stream; {@code owner} and {@code group} are as in Hadoop's method. */
  public static FileInputStream openForRead(File file, String owner, String group)
      throws IOException {
    check(file);
    return new FileInputStream(file);
  }

  /** Makes a new file with these permissions. */
  public static FileOutputStream createForWrite(File file, int permissions) throws IOException {
    String letters = FsPermission.createImmutable((short) permissions).toString();
    FileAttribute<?> mode =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(letters));
    try {
      Files.createFile(file.toPath(), mode);
    } catch (FileAlreadyExistsException e) {
      throw new AlreadyExistsException(e);
    }
    return new FileOutputStream(file);
  }

  private static void check(File file) throws IOException {
    Path path = file.toPath();
    if (Files.isSymbolicLink(path)) {
      throw new IOException(file + " is a link");
    }
    Object owner = Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    if (!owner.equals(Files.getAttribute(Paths.get("/proc/self"), "unix:uid"))) {
      throw new IOException(file + " belongs to another user: " + owner);
    }
  }

  /** There is such a file. */
  public static class AlreadyExistsException extends IOException {
    private static final long serialVersionUID = 1L;

    /** With what the file system said. */
    public AlreadyExistsException(Throwable cause) {
      super(cause);
    }
  }
}
