package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.util.DataChecksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * CRC-32C of every chunk of a file, kept in one extended attribute of the file itself, so that
 * renames and deletions take them along. Length and modification time stand beside them: once
 * another program has changed the file they no longer count.
 */
final class Checksums {
  private static final Logger LOG = LoggerFactory.getLogger(Checksums.class);
  private static final AtomicBoolean TOLD = new AtomicBoolean();

  /** Without the "user." that Java puts before it. */
  static final String ATTRIBUTE = "howdah.crc";

  /**
   * The smallest chunk. Larger ones are joined from these where a file system allows little room
   * for attributes.
   */
  static final int CHUNK = 1 << 20;

  /** A chunk is read as a whole before any of it is given to a reader. */
  private static final int LARGEST_CHUNK = 8 << 20;

  static final DataChecksum.Type TYPE = DataChecksum.Type.CRC32C;

  private static final String MODE = "unix:mode";
  private static final int PERMISSIONS = 07777;
  private static final int OWNER_WRITES = 0200;
  private static final byte VERSION = 1;
  private static final int HEAD = 1 + 4 + 8 + 8;

  /** What Linux allows for the value of one attribute. */
  private static final int LARGEST_VALUE = 1 << 16;

  final int chunk;
  private final long size;
  private final int[] sums;

  Checksums(int chunk, long size, int[] sums) {
    this.chunk = chunk;
    this.size = size;
    this.sums = sums;
  }

  /** Those of a file that was opened; null also if another file has taken its name meanwhile. */
  static Checksums of(Mount.Found opened) throws IOException {
    Checksums found = read(opened.located, opened.entry);
    return found != null && Entry.followed(opened.located).isSame(opened.entry) ? found : null;
  }

  /**
   * @param entry what a stat of this file says now
   * @return null if the file has none, or has changed since they were written
   * @throws IOException if the storage failed: whoever wants a file compared must not get it unseen
   */
  static Checksums read(Path file, Entry entry) throws IOException {
    ByteBuffer value;
    try {
      value =
          with(
              file,
              view -> {
                ByteBuffer found = ByteBuffer.allocate(view.size(ATTRIBUTE));
                view.read(ATTRIBUTE, found);
                return found;
              });
    } catch (UnsupportedOperationException none) {
      return null;
    } catch (IOException e) {
      if (Errors.isFailure(e)) {
        throw e;
      }
      return null;
    }
    value.flip();
    if (value.remaining() < HEAD || value.get() != VERSION) {
      return null;
    }
    int chunk = value.getInt();
    if (value.getLong() != entry.size || value.getLong() != entry.modified) {
      return null;
    }
    int[] sums = new int[value.remaining() / 4];
    value.asIntBuffer().get(sums);
    return chunk < CHUNK || chunk > LARGEST_CHUNK || sums.length != count(entry.size, chunk)
        ? null
        : new Checksums(chunk, entry.size, sums);
  }

  /**
   * Called when the file is closed and its modification time final.
   *
   * @return false if there is no room for them, or the file system has no such attributes; then the
   *     file has none
   */
  boolean write(Path file) throws IOException {
    Entry now = Entry.followed(file);
    if (now.size != size) {
      return false;
    }
    IOException why = null;
    for (Checksums some = this; some.chunk <= LARGEST_CHUNK; some = some.joined()) {
      if (HEAD + 4 * some.sums.length > LARGEST_VALUE) {
        continue;
      }
      try {
        some.write(file, now);
        return true;
      } catch (UnsupportedOperationException none) {
        why = new IOException("no extended attributes", none);
        break;
      } catch (FileSystemException full) {
        if (Errors.isFailure(full)) {
          throw full;
        }
        // Too large for this file system, most likely; chunks of twice the size need half of the
        // room.
        why = full;
      }
    }
    if (TOLD.compareAndSet(false, true)) {
      LOG.warn(
          "{} gets no checksums, nor may other files: {}",
          file,
          why == null ? "it is too large" : why.toString());
    }
    return false;
  }

  private void write(Path file, Entry now) throws IOException {
    ByteBuffer value = ByteBuffer.allocate(HEAD + 4 * sums.length);
    value.put(VERSION).putInt(chunk).putLong(size).putLong(now.modified);
    for (int sum : sums) {
      value.putInt(sum);
    }
    value.flip();
    boolean isLocked = (now.mode & OWNER_WRITES) == 0;
    if (isLocked) {
      // Whoever makes a file writes to it whatever its permissions, but attributes need them.
      Files.setAttribute(file, MODE, now.mode & PERMISSIONS | OWNER_WRITES);
    }
    try {
      with(file, view -> view.write(ATTRIBUTE, value));
    } finally {
      if (isLocked) {
        Files.setAttribute(file, MODE, now.mode & PERMISSIONS);
      }
    }
  }

  /** Called before the content of a file is changed. */
  static void forget(Path file) {
    try {
      with(
          file,
          view -> {
            view.delete(ATTRIBUTE);
            return null;
          });
    } catch (IOException | UnsupportedOperationException none) {
      // There were none; and what is left behind by a failure no longer fits the file's time.
    }
  }

  /** Whether the bytes of a chunk, from its first to its last, are those that were written. */
  boolean matches(long offset, ByteBuffer bytes, Crc crc) {
    ByteBuffer covered = bytes.duplicate();
    // What was appended since is nobody's to compare.
    long left = Math.max(0, size - offset);
    if (left == 0) {
      return true;
    }
    covered.limit((int) Math.min(covered.limit(), left));
    crc.update(covered);
    return crc.take() == sums[(int) (offset / chunk)];
  }

  /**
   * CRC-32C of the whole file: what HDFS calls its composite CRC, whatever the size of its blocks.
   */
  int composite() throws IOException {
    int whole = 0;
    for (int i = 0; i < sums.length; i++) {
      whole = Crc.joined(whole, sums[i], length(i));
    }
    return whole;
  }

  private Checksums joined() {
    int[] half = new int[(sums.length + 1) / 2];
    for (int i = 0; i < half.length; i++) {
      int second = 2 * i + 1;
      half[i] =
          second < sums.length
              ? Crc.joined(sums[2 * i], sums[second], length(second))
              : sums[2 * i];
    }
    return new Checksums(chunk * 2, size, half);
  }

  private long length(int index) {
    return Math.min(chunk, size - (long) index * chunk);
  }

  private static long count(long size, int chunk) {
    return (size + chunk - 1) / chunk;
  }

  /** Something done with the attributes of a file. */
  private interface Use<T> {
    T of(UserDefinedFileAttributeView view) throws IOException;
  }

  private static <T> T with(Path file, Use<T> use) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    if (view == null) {
      throw new IOException("no extended attributes");
    }
    try {
      return use.of(view);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw Errors.declared(e);
    }
  }
}
