package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;

/** Makes files and directories, and opens files to go on writing. */
final class Creation {
  /**
   * What HDFS gives the directories on the way to one that is made: their owner may enter and
   * write.
   */
  private static final int PARENTS = 0300;

  private final Mount mount;
  private final LongConsumer statistics;
  private final Settings settings;
  private final Layouts layouts;
  private final OpenFiles open;
  private final boolean syncOnClose;

  Creation(Mount mount, LongConsumer statistics, Settings settings, Layouts layouts, OpenFiles open)
      throws IOException {
    this.mount = mount;
    this.statistics = statistics;
    this.settings = settings;
    this.layouts = layouts;
    this.open = open;
    syncOnClose = settings.syncOnClose(mount.knownType());
  }

  /** How one file is made. */
  static final class Wish {
    FsPermission permission = FsPermission.getFileDefault();
    FsPermission parents = FsPermission.getDirDefault();
    boolean overwrite;
    boolean recursive;
    boolean sync;
    boolean atomic;

    /** Null for that of the directory. */
    Layout layout;
  }

  /** Throws Java's exceptions, and Hadoop's for what Java has no words for. */
  FileOutput make(org.apache.hadoop.fs.Path name, Wish wish) throws IOException {
    mount.check();
    Path file = mount.locate(name);
    if (settings.syncDirectories) {
      Tree.requireSync(file.getParent());
    }
    try {
      return made(name, file, wish);
    } catch (NoSuchFileException e) {
      // What is usually there is not looked for before.
      if (!wish.recursive || Entry.isThere(file.getParent())) {
        throw e;
      }
      makeDirectories(file.getParent(), wish.parents);
      return made(name, file, wish);
    }
  }

  private FileOutput made(org.apache.hadoop.fs.Path name, Path file, Wish wish) throws IOException {
    if (wish.atomic) {
      Path real = mount.resolve(file, name);
      refuseExisting(name, real, wish.overwrite);
      return output(name, fresh(hidden(real), wish), real, wish);
    }
    try {
      return output(name, named(file, wish), file, wish);
    } catch (FileAlreadyExistsException e) {
      Path real = mount.resolve(file, name);
      refuseExisting(name, real, wish.overwrite);
      // Without overwriting, what was there is gone again: whoever makes it first has it.
      Fresh made = wish.overwrite ? replaced(real, wish) : named(real, wish);
      return output(name, made, real, wish);
    }
  }

  /**
   * @param synced whether closing waits for the storage, even where the key does not ask for it
   */
  FileOutput append(org.apache.hadoop.fs.Path name, Mount.Found found, boolean synced)
      throws IOException {
    if (!found.entry.isFile()) {
      throw new FileNotFoundException("append " + name + ": it is not a file");
    }
    Path file = found.located;
    Checksums.forget(file);
    FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND);
    try {
      long start = channel.size();
      boolean sync = synced || syncOnClose;
      Plain end = new Plain(file, null, sync);
      return new FileOutput(
          name, channel, start, statistics, settings, false, sync, false, end, open);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Makes a directory with those above it that are missing.
   *
   * @throws FileAlreadyExistsException if it, or what is above it, is a file
   */
  void makeDirectories(Path directory, FsPermission permission) throws IOException {
    if (settings.syncDirectories && !Entry.isThere(directory)) {
      Tree.requireSync(directory.getParent());
    }
    try {
      Tree.makeDirectory(directory, permission);
    } catch (NoSuchFileException e) {
      if (directory.equals(mount.root()) || directory.getParent() == null) {
        throw e;
      }
      makeDirectories(directory.getParent(), ofParents(permission));
      makeDirectories(directory, permission);
      return;
    } catch (IOException e) {
      requireDirectory(directory, e);
      return;
    }
    Tree.complete(directory, permission);
    layouts.made(directory);
    if (settings.syncDirectories) {
      Tree.sync(directory.getParent());
    }
  }

  /**
   * Called when a directory could not be made: it may be there. Lustre and NFS then say that the
   * parent may not be written to, where that is so.
   *
   * @throws IOException if it is not
   */
  static void requireDirectory(Path directory, IOException why) throws IOException {
    if (Entry.isDirectory(directory)) {
      return;
    }
    if (why instanceof FileAlreadyExistsException && !Entry.isThere(directory)) {
      throw new NoSuchFileException(directory.toString(), null, "it is a link that leads nowhere");
    }
    throw why;
  }

  /** HDFS does not hand the sticky bit up. */
  private static FsPermission ofParents(FsPermission permission) {
    FsPermission unmasked = permission.getUnmasked();
    return FsCreateModes.create(
        ofParents(permission.toShort()),
        ofParents((unmasked == null ? permission : unmasked).toShort()));
  }

  private static FsPermission ofParents(short bits) {
    return new FsPermission((short) (bits & 0777 | PARENTS));
  }

  /** A file that was just made, with the space that is kept for it. */
  private static final class Fresh {
    final Path path;
    final FileChannel channel;

    /** Null where none is. */
    final Native.Reservation reserved;

    /** Null where nobody asks. */
    final Entry entry;

    Fresh(Path path, FileChannel channel, Native.Reservation reserved, Entry entry) {
      this.path = path;
      this.channel = channel;
      this.reserved = reserved;
      this.entry = entry;
    }

    void close() throws IOException {
      channel.close();
      if (reserved != null) {
        reserved.close();
      }
    }

    void drop() throws IOException {
      close();
      Files.deleteIfExists(path);
    }
  }

  /** Makes a file; one for which there is no room is not made. */
  private Fresh fresh(Path file, Wish wish) throws IOException {
    FileChannel channel = layouts.makeFile(file, wish.permission, wish.layout);
    Native.Reservation reserved = null;
    try {
      if (isPreallocated()) {
        reserved = Native.get().allocate(file, settings.preallocate);
      }
      return new Fresh(file, channel, reserved, settings.checksum ? Entry.of(file) : null);
    } catch (IOException e) {
      new Fresh(file, channel, reserved, null).drop();
      throw e;
    }
  }

  private boolean isPreallocated() {
    return settings.preallocate > 0 && Native.get() != null;
  }

  /**
   * A new file under its name. One that is looked at or opened once more, by its name, is made
   * under a hidden one first: another may be overwriting it already. Where there are no hard links
   * only its own name is sure to be nobody else's.
   *
   * @throws FileAlreadyExistsException if the name is taken
   */
  private Fresh named(Path file, Wish wish) throws IOException {
    if (layouts.isOwn(wish.layout) || settings.checksum || isPreallocated()) {
      Fresh made = fresh(hidden(file), wish);
      try {
        if (Tree.renameFile(made.path, file)) {
          return made;
        }
      } catch (IOException e) {
        made.drop();
        throw e;
      }
      made.drop();
    }
    return fresh(file, wish);
  }

  /**
   * A new file in the place of another, in one step; who reads the other goes on doing so. It stays
   * where there is no room for the new one.
   */
  private Fresh replaced(Path file, Wish wish) throws IOException {
    Fresh made = fresh(hidden(file), wish);
    try {
      Tree.replace(made.path, file);
      return made;
    } catch (IOException e) {
      made.drop();
      throw e;
    }
  }

  private FileOutput output(org.apache.hadoop.fs.Path name, Fresh made, Path file, Wish wish)
      throws IOException {
    // A name whose bytes a loss of power takes away would look complete.
    boolean sync = wish.sync || syncOnClose || wish.atomic;
    try {
      OutputEnd end =
          wish.atomic
              ? new Atomic(made.path, file, wish.overwrite, sync)
              : new Plain(file, made.entry, sync);
      if (settings.syncDirectories && !wish.atomic) {
        Tree.sync(file.getParent());
      }
      if (made.reserved != null) {
        end = new Reserved(made.reserved, end);
      }
      return new FileOutput(
          name,
          made.channel,
          0,
          statistics,
          settings,
          settings.checksum,
          sync,
          wish.atomic,
          end,
          open);
    } catch (IOException | RuntimeException e) {
      made.close();
      if (wish.atomic) {
        Files.deleteIfExists(made.path);
      }
      throw e;
    }
  }

  private static void refuseExisting(org.apache.hadoop.fs.Path name, Path file, boolean overwrite)
      throws IOException {
    Entry there;
    try {
      there = Entry.of(file);
    } catch (NoSuchFileException none) {
      return;
    }
    if (there.isDirectory()) {
      throw new org.apache.hadoop.fs.FileAlreadyExistsException(
          "create " + name + ": it is a directory");
    }
    if (there.isLink()) {
      throw new PathIOException(name.toString(), "it is a link that leads nowhere");
    }
    if (!there.isFile()) {
      // In the place of a device there would be a file.
      throw new PathIOException(name.toString(), "it is not a file");
    }
    if (!overwrite) {
      throw new org.apache.hadoop.fs.FileAlreadyExistsException(
          "create " + name + ": it exists already");
    }
    if (!Tree.may(file, AccessMode.WRITE)) {
      // A directory that may be written to would let it be replaced.
      throw new AccessDeniedException(file.toString(), null, "it may not be overwritten");
    }
  }

  /** Of a length that any file system takes; the first letter keeps jobs from reading it. */
  private static Path hidden(Path file) {
    return file.resolveSibling(".howdah-" + UUID.randomUUID() + ".writing");
  }

  /** A file that is seen while it is written. */
  private class Plain implements OutputEnd {
    private final Path file;
    private final Entry made;
    private final boolean sync;

    /**
     * @param made the file that is written, or null if nothing is to be done to it at the end
     */
    Plain(Path file, Entry made, boolean sync) {
      this.file = file;
      this.made = made;
      this.sync = sync;
    }

    @Override
    public void complete(long length, Checksums checksums) throws IOException {
      // It may have been renamed or overwritten meanwhile; what has its name now has sums of its
      // own.
      if (checksums != null && made != null && isStill(file, made)) {
        keep(file, checksums, sync);
      }
    }

    @Override
    public void abandon() {
      // It was to be seen all along, and who reads it may hold what came out of it.
    }
  }

  private static boolean isStill(Path file, Entry made) throws IOException {
    try {
      return Entry.of(file).isSame(made);
    } catch (NoSuchFileException renamed) {
      return false;
    }
  }

  /** A file that appears when it is complete. */
  private final class Atomic implements OutputEnd {
    private final Path hidden;
    private final Path file;
    private final boolean overwrite;
    private final boolean sync;

    Atomic(Path hidden, Path file, boolean overwrite, boolean sync) {
      this.hidden = hidden;
      this.file = file;
      this.overwrite = overwrite;
      this.sync = sync;
    }

    @Override
    public void complete(long length, Checksums checksums) throws IOException {
      try {
        keep(hidden, checksums, sync);
        if (overwrite) {
          Tree.replace(hidden, file);
        } else {
          Tree.rename(hidden, false, file, settings.renameNative);
        }
      } catch (IOException e) {
        Files.deleteIfExists(hidden);
        throw e;
      }
      if (settings.syncDirectories) {
        Tree.sync(file.getParent());
      }
    }

    @Override
    public void abandon() throws IOException {
      Files.deleteIfExists(hidden);
    }
  }

  /** A file for which more was reserved than it may need. */
  private static final class Reserved implements OutputEnd {
    private final Native.Reservation reserved;
    private final OutputEnd end;

    Reserved(Native.Reservation reserved, OutputEnd end) {
      this.reserved = reserved;
      this.end = end;
    }

    @Override
    public void complete(long length, Checksums checksums) throws IOException {
      try (Native.Reservation mine = reserved) {
        mine.giveBack(length);
      } catch (IOException e) {
        end.abandon();
        throw e;
      }
      end.complete(length, checksums);
    }

    @Override
    public void abandon() throws IOException {
      reserved.close();
      end.abandon();
    }
  }

  private void keep(Path file, Checksums checksums, boolean sync) throws IOException {
    if (checksums != null && checksums.write(file) && sync) {
      Tree.sync(file);
    }
  }
}
