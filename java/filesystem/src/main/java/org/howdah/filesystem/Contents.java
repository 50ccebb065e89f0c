package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CompositeCrcFileChecksum;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.MD5MD5CRC32GzipFileChecksum;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.DataChecksum;

/** What is done to whole files other than through streams. */
final class Contents {
  /** HDFS's keys: DistCp compares checksums of both sides, so both have to follow the same ones. */
  private static final String MODE = "dfs.checksum.combine.mode";

  private static final String COMPOSITE = "COMPOSITE_CRC";
  private static final String TYPE = "dfs.checksum.type";
  private static final String BYTES = "dfs.bytes-per-checksum";
  private static final int USUAL_BYTES = 512;

  /**
   * What HDFS gives for a file without blocks, whatever it is set to ({@code FileChecksumHelper}).
   */
  private static final FileChecksum EMPTY =
      new MD5MD5CRC32GzipFileChecksum(0, 0, MD5Hash.digest(new byte[32]));

  private final Settings settings;
  private final boolean composite;
  private final DataChecksum.Type type;
  private final int bytesPerSum;

  /**
   * @throws IllegalArgumentException for a checksum type that Hadoop does not have
   */
  Contents(Settings settings, Configuration conf) {
    this.settings = settings;
    composite = COMPOSITE.equalsIgnoreCase(conf.getTrimmed(MODE, ""));
    type = DataChecksum.Type.valueOf(conf.getTrimmed(TYPE, DataChecksum.Type.CRC32C.name()));
    bytesPerSum = conf.getInt(BYTES, USUAL_BYTES);
  }

  /** Whether files have checksums that others can compare. */
  boolean hasChecksums() {
    return composite && type != DataChecksum.Type.NULL;
  }

  /**
   * The composite CRC that HDFS gives for the same bytes, whatever its blocks; null unless HDFS is
   * set to give it too. From the sums that the file carries, or by reading it.
   *
   * @param length bytes from the beginning, at most
   */
  FileChecksum checksum(org.apache.hadoop.fs.Path name, Path file, long length) throws IOException {
    Entry entry = Entry.followed(file);
    if (entry.isDirectory()) {
      throw new FileNotFoundException("checksum " + name + ": it is a directory");
    }
    if (!hasChecksums()) {
      return null;
    }
    if (entry.size == 0 || length == 0) {
      return EMPTY;
    }
    Checksums kept =
        type == Checksums.TYPE && length >= entry.size ? Checksums.read(file, entry) : null;
    int value = kept == null ? computed(file, length) : kept.composite();
    return new CompositeCrcFileChecksum(value, type, bytesPerSum);
  }

  private int computed(Path file, long length) throws IOException {
    DataChecksum sum = DataChecksum.newDataChecksum(type, bytesPerSum);
    byte[] bytes = new byte[settings.bufferSize];
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long left = length;
      while (left > 0) {
        int count = channel.read(ByteBuffer.wrap(bytes, 0, (int) Math.min(bytes.length, left)));
        if (count < 0) {
          break;
        }
        sum.update(bytes, 0, count);
        left -= count;
      }
    }
    return (int) sum.getValue();
  }

  /**
   * Appends files to one and deletes them, when their content is on the storage in its new place.
   * If appending fails, the target is cut back and no source is lost.
   *
   * @throws IllegalArgumentException if there are no sources
   */
  void concat(org.apache.hadoop.fs.Path name, Path target, List<Path> sources) throws IOException {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("concat " + name + ": no files are given");
    }
    requireFile(name, target);
    List<Entry> seen = new ArrayList<>();
    seen.add(Entry.followed(target));
    for (Path source : sources) {
      requireFile(name, source);
      if (!Tree.may(source.getParent(), AccessMode.WRITE)) {
        throw new AccessControlException("concat " + name + ": " + source + " cannot be deleted");
      }
      Entry entry = Entry.followed(source);
      if (seen.stream().anyMatch(entry::isSame)) {
        throw new PathIOException(
            name.toString(), "a file cannot be appended to itself, nor twice, by whatever name");
      }
      seen.add(entry);
    }
    Checksums.forget(target);
    append(sources, target);
    for (Path source : sources) {
      Files.delete(source);
    }
  }

  private static void append(List<Path> sources, Path target) throws IOException {
    try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
      // Asked of the open file: NFS remembers for a while what a stat said of one that another host
      // has made longer, and asks anew where it is opened.
      long before = channel.size();
      try {
        channel.position(before);
        for (Path source : sources) {
          append(source, channel);
        }
        channel.force(true);
      } catch (IOException | RuntimeException | Error e) {
        cutBack(target, before, e);
        throw e;
      }
    }
  }

  /** Also when the failure was an interrupt, by which Java has closed the channel. */
  private static void cutBack(Path target, long length, Throwable because) {
    boolean interrupted = Thread.interrupted();
    try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    } catch (IOException e) {
      because.addSuppressed(e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void append(Path source, FileChannel target) throws IOException {
    try (FileChannel channel = FileChannel.open(source, StandardOpenOption.READ)) {
      long size = channel.size();
      for (long at = 0; at < size; ) {
        long moved = channel.transferTo(at, size - at, target);
        if (moved <= 0) {
          throw new Refusal(source + " became shorter while it was read");
        }
        at += moved;
      }
    }
  }

  /**
   * @throws IllegalArgumentException if the file is shorter
   */
  void truncate(org.apache.hadoop.fs.Path name, Path file, long length) throws IOException {
    requireFile(name, file);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      if (length < 0 || length > channel.size()) {
        throw new IllegalArgumentException(
            "truncate "
                + name
                + ": it has "
                + channel.size()
                + " bytes and cannot be cut at "
                + length);
      }
      Checksums.forget(file);
      channel.truncate(length);
    }
  }

  /**
   * @param modified in ms since 1970; below 0 it stays
   * @param accessed likewise
   */
  void setTimes(Path file, long modified, long accessed) throws IOException {
    Checksums kept = settings.checksum ? Checksums.read(file, Entry.followed(file)) : null;
    Files.getFileAttributeView(file, BasicFileAttributeView.class)
        .setTimes(
            modified < 0 ? null : FileTime.fromMillis(modified),
            accessed < 0 ? null : FileTime.fromMillis(accessed),
            null);
    if (kept != null) {
      kept.write(file);
    }
  }

  private static void requireFile(org.apache.hadoop.fs.Path name, Path file) throws IOException {
    if (Entry.followed(file).isDirectory()) {
      throw new FileNotFoundException(name + ": " + file + " is a directory");
    }
  }
}
