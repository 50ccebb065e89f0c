package org.howdah.filesystem;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
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
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.permission.FsPermission;

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

  /** Makes one directory; {@link #complete} gives it what is missing of its permissions. */
  static void makeDirectory(Path directory, FsPermission permission) throws IOException {
    Files.createDirectory(directory, attribute(asked(permission)));
  }

  /**
   * Gives a directory that was just made exactly these permissions, but where its parent's access
   * control list says what it gets.
   */
  static void complete(Path directory, FsPermission permission) throws IOException {
    settle(directory, permission.toShort(), asked(permission));
  }

  /** Makes a file that did not exist, open for writing, with permissions like a directory's. */
  static FileChannel makeFile(Path file, FsPermission permission) throws IOException {
    Set<StandardOpenOption> options =
        EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    int asked = asked(permission);
    FileChannel channel = FileChannel.open(file, options, attribute(asked));
    try {
      settle(file, permission.toShort() & PERMISSIONS, asked);
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private static void settle(Path made, int exact, int asked) throws IOException {
    if (exact != (asked & ~PROCESS_UMASK)) {
      setPermissions(made, exact);
    }
  }

  /**
   * What to ask of the kernel. Where it takes the same away as Hadoop's umask does, that is left to
   * it: in directories with default access control lists it takes nothing, as HDFS does there.
   */
  private static int asked(FsPermission permission) {
    int exact = permission.toShort() & PERMISSIONS;
    FsPermission unmasked = permission.getUnmasked();
    if (unmasked == null || PROCESS_UMASK == PERMISSIONS) {
      return exact;
    }
    int whole = unmasked.toShort() & PERMISSIONS;
    return (whole & ~PROCESS_UMASK) == exact ? whole : exact;
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
    deleteAll(() -> opened(directory), () -> delete(directory));
  }

  /** Opens a directory. */
  private interface Opening {
    SecureDirectoryStream<Path> open() throws IOException;
  }

  /** Removes a directory that is empty. */
  private interface Removal {
    void remove() throws IOException;
  }

  private static SecureDirectoryStream<Path> opened(Path directory) throws IOException {
    DirectoryStream<Path> found = Files.newDirectoryStream(directory);
    try {
      if (!(found instanceof SecureDirectoryStream)) {
        throw new Refusal("this JVM cannot go through directories safely");
      }
      SecureDirectoryStream<Path> open = (SecureDirectoryStream<Path>) found;
      Object key =
          open.getFileAttributeView(BasicFileAttributeView.class).readAttributes().fileKey();
      BasicFileAttributes named =
          Files.readAttributes(directory, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!key.equals(named.fileKey())) {
        throw new Refusal(directory + " was replaced while it was deleted");
      }
      return open;
    } catch (IOException | RuntimeException e) {
      found.close();
      throw e;
    }
  }

  private static void deleteAll(Opening directory, Removal itself) throws IOException {
    for (int left = PASSES; ; left--) {
      deleteInside(directory);
      try {
        itself.remove();
        return;
      } catch (DirectoryNotEmptyException e) {
        // Some file systems leave names out of a listing while others are deleted from it.
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  private static void deleteInside(Opening directory) throws IOException {
    try (SecureDirectoryStream<Path> inside = directory.open()) {
      for (Path found : inside) {
        Path child = found.getFileName();
        try {
          if (isDirectory(inside, child)) {
            deleteAll(
                () -> inside.newDirectoryStream(child, LinkOption.NOFOLLOW_LINKS),
                () -> inside.deleteDirectory(child));
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
    if (isThere(to)) {
      throw new FileAlreadyExistsException(to.toString());
    }
    replace(from, to);
  }

  /** What cannot be asked for is an error, not nothing. */
  private static boolean isThere(Path path) throws IOException {
    try {
      Entry.of(path);
      return true;
    } catch (NoSuchFileException none) {
      return false;
    }
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
      // Deleted or renamed by another, or by a first try of ours whose answer was lost: then this
      // is the only name left.
      if (hasOtherName(to)) {
        Files.deleteIfExists(to);
        throw e;
      }
    } catch (IOException e) {
      undo(from, to, e);
    }
    return true;
  }

  /** False also where that cannot be found out. */
  private static boolean hasOtherName(Path file) {
    try {
      if (Entry.of(file).isFile()) {
        // Network file systems remember attributes, and ask for them anew where a file is opened.
        FileChannel.open(file, StandardOpenOption.READ).close();
      }
      return (Integer) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS) > 1;
    } catch (IOException unknown) {
      return false;
    }
  }

  /**
   * Called when a file has two names and the first could not be removed. Where that was refused,
   * the second goes. Where the storage failed, it may have been removed all the same: then both
   * names are left to whoever looks after it.
   *
   * @throws IOException unless the first name is gone, and so the file renamed
   */
  static void undo(Path from, Path to, IOException failure) throws IOException {
    if (Errors.isRefusal(failure)) {
      try {
        Files.deleteIfExists(to);
      } catch (IOException left) {
        failure.addSuppressed(left);
      }
      throw failure;
    }
    try {
      Entry.of(from);
    } catch (NoSuchFileException gone) {
      return;
    } catch (IOException unknown) {
      failure.addSuppressed(unknown);
    }
    throw new Refusal(
        from
            + " now may have a second name, "
            + to
            + ", since it could not be removed; look which of them is there: "
            + Errors.said(failure),
        failure);
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

  /**
   * Whether this process has these rights to what is there.
   *
   * @throws IOException if the storage failed, by which nothing is known, or nothing is there
   */
  static boolean may(Path path, AccessMode... rights) throws IOException {
    try {
      path.getFileSystem().provider().checkAccess(path, rights);
      return true;
    } catch (IOException e) {
      if (Errors.isRefusal(e)) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Called before names in a directory change that are to be synchronised, for which it is opened:
   * afterwards it would be too late to say that it cannot be.
   */
  static void requireSync(Path directory) throws IOException {
    if (Entry.isThere(directory) && !may(directory, AccessMode.READ)) {
      throw new AccessDeniedException(
          directory.toString(), null, "names can be synchronised only where one may read");
    }
  }

  /** Waits until the names in a directory, or a file with its attributes, are on the storage. */
  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      // Not by this thread: Java closes the channel if that is interrupted meanwhile.
      if (Background.await(Background.start(() -> channel.force(true)))) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Whether the parent of a path is a file, which system calls tell in several ways. False also
   * where the storage fails to say.
   */
  static boolean isUnderFile(Path path) {
    for (Path parent = path.getParent(); parent != null; parent = parent.getParent()) {
      try {
        return !Entry.followed(parent).isDirectory();
      } catch (IOException e) {
        if (Errors.isFailure(e)) {
          return false;
        }
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
    } catch (UnsupportedOperationException none) {
      return false;
    } catch (FileSystemException e) {
      if (Errors.isFailure(e)) {
        throw new Refusal(
            from
                + " now may have a second name, "
                + to
                + "; look whether it is there: "
                + Errors.said(e),
            e);
      }
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
