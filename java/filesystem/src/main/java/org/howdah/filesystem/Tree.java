package org.howdah.filesystem;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Changes to directories, on the machine's own paths. Throws Java's exceptions. */
final class Tree {
  private static final int PERMISSIONS = 0777;

  /** Set-user and set-group. */
  private static final int SPECIAL = 06000;

  /** Times that a directory is gone through again. */
  private static final int PASSES = 3;

  private static final PosixFilePermission[] BITS = {
    PosixFilePermission.OTHERS_EXECUTE,
    PosixFilePermission.OTHERS_WRITE,
    PosixFilePermission.OTHERS_READ,
    PosixFilePermission.GROUP_EXECUTE,
    PosixFilePermission.GROUP_WRITE,
    PosixFilePermission.GROUP_READ,
    PosixFilePermission.OWNER_EXECUTE,
    PosixFilePermission.OWNER_WRITE,
    PosixFilePermission.OWNER_READ,
  };

  /**
   * What the process takes away from permissions when it makes something; all of them if that is
   * not known.
   */
  private static final int PROCESS_UMASK = processUmask();

  private Tree() {}

  /** Makes one directory with exactly these permissions. */
  static void makeDirectory(Path directory, int permissions) throws IOException {
    Files.createDirectory(directory, attribute(permissions & PERMISSIONS));
    if ((permissions & ~PERMISSIONS) != 0 || (permissions & PROCESS_UMASK) != 0) {
      setPermissions(directory, permissions);
    }
  }

  /** Makes a file that did not exist, with exactly these permissions, open for writing. */
  static FileChannel makeFile(Path file, int permissions) throws IOException {
    Set<StandardOpenOption> options =
        EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    FileChannel channel = FileChannel.open(file, options, attribute(permissions & PERMISSIONS));
    try {
      if ((permissions & PERMISSIONS & PROCESS_UMASK) != 0) {
        setPermissions(file, permissions & PERMISSIONS);
      }
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * A directory keeps its bit by which what is made in it gets its group, as everything in HDFS
   * gets its parent's.
   */
  static void setPermissions(Path path, int permissions) throws IOException {
    Entry entry = Entry.followed(path);
    int kept = entry.isDirectory() ? entry.mode & SPECIAL : 0;
    Files.setAttribute(path, "unix:mode", permissions | kept);
  }

  /** Names in a directory, in no order. */
  static List<Path> names(Path directory) throws IOException {
    List<Path> names = new ArrayList<>();
    forEach(directory, names::add);
    return names;
  }

  /** Something done with one name. */
  interface Visit {
    void to(Path name) throws IOException;
  }

  /** Goes through the names in a directory, in no order, while it is open. */
  static void forEach(Path directory, Visit visit) throws IOException {
    try (DirectoryStream<Path> names = Files.newDirectoryStream(directory)) {
      for (Path name : names) {
        visit.to(name);
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  static boolean isEmpty(Path directory) throws IOException {
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      return !stream.iterator().hasNext();
    }
  }

  /**
   * Deletes a directory with all that is in it. It goes down by open directories, so that one which
   * somebody replaces by a link meanwhile is not left through it.
   */
  static void deleteAll(Path directory) throws IOException {
    try (DirectoryStream<Path> parent = Files.newDirectoryStream(directory.getParent())) {
      if (!(parent instanceof SecureDirectoryStream)) {
        throw new Refusal("this JVM cannot go through directories safely");
      }
      deleteAll((SecureDirectoryStream<Path>) parent, directory.getFileName());
    }
  }

  private static void deleteAll(SecureDirectoryStream<Path> parent, Path name) throws IOException {
    for (int left = PASSES; ; left--) {
      deleteInside(parent, name);
      try {
        parent.deleteDirectory(name);
        return;
      } catch (DirectoryNotEmptyException e) {
        // Some file systems leave names out of a listing while others are deleted from it.
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  private static void deleteInside(SecureDirectoryStream<Path> parent, Path name)
      throws IOException {
    try (SecureDirectoryStream<Path> inside =
        parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
      for (Path found : inside) {
        Path child = found.getFileName();
        try {
          if (isDirectory(inside, child)) {
            deleteAll(inside, child);
          } else {
            inside.deleteFile(child);
          }
        } catch (NoSuchFileException gone) {
          // Somebody else deletes here too.
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static boolean isDirectory(SecureDirectoryStream<Path> inside, Path child)
      throws IOException {
    return inside
        .getFileAttributeView(child, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes()
        .isDirectory();
  }

  /**
   * Renames; never replaces anything. A file is linked under its new name and then unlinked under
   * the old one. For a directory, and for files where there are no hard links, what is there is
   * looked at before.
   *
   * @throws FileAlreadyExistsException if there is something under the new name
   */
  static void rename(Path from, boolean directory, Path to, boolean natively) throws IOException {
    if (natively && Native.get() != null && Native.get().renameNoReplace(from, to)) {
      return;
    }
    if (!directory && renameFile(from, to)) {
      return;
    }
    if (Files.exists(to, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(to.toString());
    }
    replace(from, to);
  }

  /**
   * Renames a file or a link by two system calls; never replaces anything.
   *
   * @return false, with nothing changed, if it is a directory, or there are no hard links here
   * @throws FileAlreadyExistsException if there is something under the new name
   */
  static boolean renameFile(Path from, Path to) throws IOException {
    if (!link(from, to)) {
      return false;
    }
    try {
      delete(from);
    } catch (NoSuchFileException e) {
      // Deleted by another, or by a first try of ours whose answer was lost: then this is the
      // only name left.
      if ((Integer) Files.getAttribute(to, "unix:nlink", LinkOption.NOFOLLOW_LINKS) > 1) {
        Files.deleteIfExists(to);
        throw e;
      }
    } catch (IOException e) {
      try {
        Files.deleteIfExists(to);
      } catch (IOException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
    return true;
  }

  /** A file, a link or an empty directory. Java's newer call looks at what it is before. */
  static void delete(Path path) throws IOException {
    if (!path.toFile().delete()) {
      Files.delete(path);
    }
  }

  /** Renames in one step, onto a file or an empty directory if there is one. */
  static void replace(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      if (Files.isDirectory(to, LinkOption.NOFOLLOW_LINKS) && !isEmpty(to)) {
        throw new DirectoryNotEmptyException(to.toString());
      }
      throw e;
    }
  }

  /** Waits until the names in a directory are on the storage. */
  static void sync(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Whether the parent of a path is a file, which system calls tell in several ways. */
  static boolean isUnderFile(Path path) {
    for (Path parent = path.getParent(); parent != null; parent = parent.getParent()) {
      if (Files.exists(parent)) {
        return !Files.isDirectory(parent);
      }
    }
    return false;
  }

  /** False if this file system has no hard links, or not here. */
  private static boolean link(Path from, Path to) throws IOException {
    try {
      Files.createLink(to, from);
      return true;
    } catch (FileAlreadyExistsException | NoSuchFileException e) {
      throw e;
    } catch (UnsupportedOperationException | FileSystemException none) {
      return false;
    }
  }

  private static FileAttribute<Set<PosixFilePermission>> attribute(int permissions) {
    Set<PosixFilePermission> set = EnumSet.noneOf(PosixFilePermission.class);
    for (int i = 0; i < BITS.length; i++) {
      if ((permissions & 1 << i) != 0) {
        set.add(BITS[i]);
      }
    }
    return PosixFilePermissions.asFileAttribute(set);
  }

  private static int processUmask() {
    try {
      for (String line :
          Files.readAllLines(Paths.get("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("Umask:")) {
          return Integer.parseInt(line.substring("Umask:".length()).trim(), 8);
        }
      }
    } catch (IOException | NumberFormatException unknown) {
      // Every permission is then set once more, which costs a call.
    }
    return PERMISSIONS;
  }
}
