package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.InvalidPathHandleException;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.PathHandle;

/**
 * A file, by its path and what a {@code stat} said of it. One that may have moved is looked for in
 * the directory where it was: the kernel opens files by their number for root alone.
 */
final class Handle implements PathHandle {
  private static final long serialVersionUID = 1L;
  private static final byte VERSION = 1;
  private static final int MOVED = 1;
  private static final int CHANGED = 2;
  private static final int HEAD = 1 + 1 + 8 + 8 + 8 + 8;

  private final byte allowed;
  private final long inode;

  /** A number may be given to another file, at another time. */
  private final long made;

  private final long modified;
  private final long size;
  private final String path;

  private Handle(byte allowed, long inode, long made, long modified, long size, String path) {
    this.allowed = allowed;
    this.inode = inode;
    this.made = made;
    this.modified = modified;
    this.size = size;
    this.path = path;
  }

  /**
   * @param status of the file as the caller saw it
   * @param seen the same as the kernel said it
   * @param options whether the file may have another name by then, and another content
   */
  static Handle of(FileStatus status, Entry seen, Options.HandleOpt... options) {
    boolean moved =
        Options.HandleOpt.getOpt(Options.HandleOpt.Location.class, options)
            .orElse(Options.HandleOpt.moved(false))
            .allowChange();
    boolean changed =
        Options.HandleOpt.getOpt(Options.HandleOpt.Data.class, options)
            .orElse(Options.HandleOpt.changed(false))
            .allowChange();
    return new Handle(
        (byte) ((moved ? MOVED : 0) | (changed ? CHANGED : 0)),
        seen.inode,
        seen.made,
        status.getModificationTime(),
        status.getLen(),
        status.getPath().toUri().getPath());
  }

  /**
   * @throws InvalidPathHandleException if this is no handle of this file system
   */
  Handle(ByteBuffer bytes) throws InvalidPathHandleException {
    ByteBuffer from = bytes.duplicate();
    if (from.remaining() <= HEAD || from.get() != VERSION) {
      throw new InvalidPathHandleException("not a handle of this file system");
    }
    allowed = from.get();
    inode = from.getLong();
    made = from.getLong();
    modified = from.getLong();
    size = from.getLong();
    path = StandardCharsets.UTF_8.decode(from).toString();
  }

  String path() {
    return path;
  }

  @Override
  public ByteBuffer bytes() {
    byte[] name = path.getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(HEAD + name.length);
    bytes.put(VERSION).put(allowed).putLong(inode).putLong(made).putLong(modified).putLong(size);
    bytes.put(name).flip();
    return bytes;
  }

  /**
   * Where the file is now.
   *
   * @param located where it was
   * @param root of the mount, by which is told whether it is known when files were made
   * @throws InvalidPathHandleException if it is not there any more, or not as it has to be
   */
  Path find(Path located, Entry root) throws IOException {
    boolean dated = root.made != root.modified;
    Path found = isIt(located, dated) ? located : renamed(located, dated);
    Entry entry;
    try {
      entry = Entry.followed(found);
    } catch (NoSuchFileException gone) {
      throw new InvalidPathHandleException(path + " is no longer there", gone);
    }
    if ((allowed & CHANGED) == 0 && (entry.modified != modified || entry.size != size)) {
      throw new InvalidPathHandleException(path + " has changed");
    }
    return found;
  }

  private Path renamed(Path located, boolean dated) throws IOException {
    if ((allowed & MOVED) != 0 && Entry.isDirectory(located.getParent())) {
      for (Path other : Tree.names(located.getParent())) {
        if (isIt(other, dated)) {
          return other;
        }
      }
    }
    throw new InvalidPathHandleException(path + " is no longer there");
  }

  private boolean isIt(Path other, boolean dated) throws IOException {
    // Others in the directory may be links that lead nowhere.
    Entry entry = Entry.ifThere(other);
    return entry != null
        && entry.isFile()
        && ((allowed & MOVED) == 0 && (allowed & CHANGED) != 0
            || entry.inode == inode && (!dated || entry.made == made));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Handle && bytes().equals(((Handle) other).bytes());
  }

  @Override
  public int hashCode() {
    return bytes().hashCode();
  }

  @Override
  public String toString() {
    return path + " (file " + inode + ")";
  }
}
