package org.howdah.shuffle;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.mapred.IFileInputStream;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.howdah.sort.RecordCursor;
import org.howdah.sort.SegmentCursor;

/**
 * The output of one map for this reduce: uncompressed in memory, or a part of a file as the map
 * wrote it, or both. Its checksum has been compared by the time that it is committed.
 */
final class Fetched<K, V> extends MapOutput<K, V> {
  /** Bytes of an output that has no record: the mark of the end, two lengths of -1. */
  static final int EMPTY = 2;

  private static final int CHECKSUM = 4;
  private static final int END = 0xFFFF;
  private static final int COPY_BYTES = 1 << 18;

  private final MapOutputs<K, V> outputs;
  private final Path path;
  private final long start;
  private final long partLength;
  private final long rawLength;
  private final boolean own;
  private boolean inMemory;
  private byte[] bytes;
  private boolean isCommitted;

  private Fetched(
      MapOutputs<K, V> outputs,
      TaskAttemptID map,
      Path path,
      long start,
      long partLength,
      long rawLength,
      boolean own,
      byte[] bytes) {
    super(map, rawLength, true);
    this.outputs = outputs;
    this.path = path;
    this.start = start;
    this.partLength = partLength;
    this.rawLength = rawLength;
    this.own = own;
    this.bytes = bytes;
    inMemory = bytes != null;
  }

  /** In {@code bytes}, which {@code outputs} gave; {@link #shuffle} fills them. */
  static <K, V> Fetched<K, V> inMemory(
      MapOutputs<K, V> outputs, TaskAttemptID map, byte[] bytes, long partLength) {
    return inBoth(outputs, map, bytes, null, 0, partLength);
  }

  /** The same, of a part of a file that stays where it is. */
  static <K, V> Fetched<K, V> inBoth(
      MapOutputs<K, V> outputs,
      TaskAttemptID map,
      byte[] bytes,
      Path path,
      long start,
      long partLength) {
    return new Fetched<>(outputs, map, path, start, partLength, bytes.length, false, bytes);
  }

  /** In a file; one that is this reduce's {@code own} is removed when it has been read. */
  static <K, V> Fetched<K, V> inFile(
      MapOutputs<K, V> outputs,
      TaskAttemptID map,
      Path path,
      long start,
      long partLength,
      long rawLength,
      boolean own) {
    return new Fetched<>(outputs, map, path, start, partLength, rawLength, own, null);
  }

  /**
   * Whether an output may have these lengths. The least is an empty one, of which a codec makes one
   * byte or more.
   */
  static boolean isPossible(long partLength, long rawLength, CompressionCodec codec) {
    return rawLength >= EMPTY && partLength >= CHECKSUM + (codec == null ? EMPTY : 1);
  }

  long rawLength() {
    return rawLength;
  }

  long partLength() {
    return partLength;
  }

  boolean isInMemory() {
    return inMemory;
  }

  /** Gives back its memory, and is in its file from now on; false where it is in none. */
  boolean leaveMemory() {
    if (path == null) {
      return false;
    }
    free();
    inMemory = false;
    return true;
  }

  /** Whether it is the one that the reduce reads: of two of the same map, one is. */
  boolean isCommitted() {
    return isCommitted;
  }

  /**
   * Takes the output from {@code input}, and compares its checksum.
   *
   * @throws FetchFailure if its file cannot be created
   */
  @Override
  public void shuffle(
      MapHost host,
      InputStream input,
      long compressedLength,
      long decompressedLength,
      ShuffleClientMetrics metrics,
      Reporter reporter)
      throws IOException {
    try {
      if (isInMemory()) {
        read(input);
      } else {
        try (FSDataOutputStream file = created()) {
          boolean isPlain = outputs.context().getCodec() == null;
          check(input, partLength, isPlain, file, reporter, path.toString());
        }
      }
    } catch (InternalError | RuntimeException damage) {
      // What codecs throw.
      throw new IOException("the output of " + getMapId() + " cannot be decompressed", damage);
    }
  }

  private FSDataOutputStream created() throws FetchFailure {
    try {
      return outputs.local().create(path, true, 4096);
    } catch (IOException local) {
      throw FetchFailure.of(FetchFailure.Kind.LOCAL, local);
    }
  }

  private void read(InputStream input) throws IOException {
    CompressionCodec codec = outputs.context().getCodec();
    IFileInputStream checked =
        new IFileInputStream(input, partLength, outputs.context().getJobConf());
    Decompressor decompressor = codec == null ? null : CodecPool.getDecompressor(codec);
    try {
      // Of a codec without one, Hadoop's writer leaves what it writes as it is.
      InputStream in =
          decompressor == null ? checked : codec.createInputStream(checked, decompressor);
      IOUtils.readFully(in, bytes, 0, bytes.length);
      byte[] rest = new byte[64];
      if (in.read(rest, 0, rest.length) > 0) {
        throw new IOException(
            "the output of "
                + getMapId()
                + " is longer than the "
                + rawLength
                + " bytes announced");
      }
      // A decompressor may be at its end before the checksum has been reached.
      while (checked.read(rest, 0, rest.length) > 0) {
        continue;
      }
      if (bytes[bytes.length - 2] != -1 || bytes[bytes.length - 1] != -1) {
        throw new IOException("the output of " + getMapId() + " has no end");
      }
    } finally {
      if (decompressor != null) {
        CodecPool.returnDecompressor(decompressor);
      }
    }
  }

  /**
   * Reads {@code length} bytes, the last four of them the checksum (CRC-32) of those before, writes
   * them to {@code to} if that is not null, and throws if it differs, or if those before do not end
   * with the mark of the end although they {@code isPlain}, not compressed.
   */
  static void check(
      InputStream from,
      long length,
      boolean isPlain,
      FSDataOutputStream to,
      Reporter reporter,
      String name)
      throws IOException {
    byte[] buffer = new byte[(int) Math.min(COPY_BYTES, length)];
    CRC32 sum = new CRC32();
    long left = length;
    long tail = 0;
    while (left > 0) {
      int read = from.read(buffer, 0, (int) Math.min(buffer.length, left));
      if (read < 0) {
        throw new EOFException(name + " ends " + left + " bytes too early");
      }
      sum.update(buffer, 0, (int) Math.max(0, Math.min(read, left - CHECKSUM)));
      for (int at = (int) Math.max(0, Math.min(read, left - CHECKSUM - EMPTY)); at < read; at++) {
        tail = tail << 8 | buffer[at] & 0xFF;
      }
      if (to != null) {
        to.write(buffer, 0, read);
      }
      left -= read;
      reporter.progress();
    }
    if (sum.getValue() != (tail & 0xFFFFFFFFL)) {
      throw new IOException(name + " is damaged: its checksum is wrong");
    }
    if (isPlain && tail >>> 32 != END) {
      throw new IOException(name + " is damaged: it has no end");
    }
  }

  RecordCursor cursor(int bufferBytes) {
    String name = "the output of " + getMapId();
    if (isInMemory()) {
      byte[] segment = bytes;
      bytes = null;
      return SegmentCursor.inMemory(segment, segment.length, name);
    }
    FileSystem local = outputs.local();
    return new SegmentCursor(
        () -> {
          FSDataInputStream file = local.open(path);
          file.seek(start);
          if (own) {
            // It is there until it is closed, and nobody has to think of it.
            local.delete(path, false);
          }
          return SegmentCursor.within(file, start);
        },
        name + " in " + path,
        partLength,
        outputs.context().getCodec(),
        outputs.context().getJobConf(),
        bufferBytes);
  }

  @Override
  public void commit() {
    isCommitted = true;
    outputs.add(this);
  }

  @Override
  public void abort() {
    free();
  }

  /** Gives back what the output took, if it is this reduce's. */
  void free() {
    if (isInMemory()) {
      bytes = null;
      outputs.release(rawLength);
    } else if (own) {
      try {
        outputs.local().delete(path, false);
      } catch (IOException left) {
        // It goes with the directory of the attempt.
        return;
      }
    }
  }

  @Override
  public String getDescription() {
    return isInMemory() ? "MEMORY" : own ? "DISK" : "DIRECT";
  }
}
