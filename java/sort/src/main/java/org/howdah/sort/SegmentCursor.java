package org.howdah.sort;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.mapred.IFileInputStream;

/**
 * Reads one segment of map output from a stream. Its checksum is compared when the last record has
 * been read, and a segment with bytes after its end is refused: what is not exactly what was
 * written is an error, never a result.
 */
public final class SegmentCursor extends RecordCursor {
  /** Gives the stream, at the beginning of the segment, when the first record is asked for. */
  public interface Source {
    InputStream open() throws IOException;
  }

  private final Source source;
  private final String name;
  private final long length;
  private final CompressionCodec codec;
  private final Configuration conf;
  private final int bufferBytes;
  private InputStream stream;
  private IFileInputStream checked;
  private Decompressor decompressor;
  private InputStream in;
  private int position;
  private int limit;
  private boolean ended;
  private boolean isPartial;

  /**
   * A segment of {@code length} bytes in the file, checksum included, read {@code bufferBytes} at a
   * time. {@code name} says in errors what it is.
   */
  public SegmentCursor(
      Source source,
      String name,
      long length,
      CompressionCodec codec,
      Configuration conf,
      int bufferBytes) {
    this.source = source;
    this.name = name;
    this.length = length;
    this.codec = codec;
    this.conf = conf;
    this.bufferBytes =
        (int) Math.max(64, Math.min(bufferBytes, codec == null ? length : bufferBytes));
  }

  private SegmentCursor(byte[] segment, int length, String name) {
    this(null, name, length, null, null, 0);
    data = segment;
    limit = length;
  }

  /** A segment that is in memory, without a checksum: its records and the mark of the end. */
  public static SegmentCursor inMemory(byte[] segment, int length, String name) {
    return new SegmentCursor(segment, length, name);
  }

  /**
   * {@code file}, which is at {@code start}, for Hadoop's reader of checksums: that asks the kernel
   * to read ahead as if every stream began where its file does, and so must not find the file of
   * one that begins elsewhere.
   */
  public static InputStream within(FSDataInputStream file, long start) {
    return start == 0 ? file : new FilterInputStream(file) {};
  }

  @Override
  public boolean next() throws IOException {
    if (ended) {
      return false;
    }
    if (data == null) {
      open();
    }
    complete();
    if (in != null && data.length > bufferBytes && limit - position <= bufferBytes) {
      // After a large record.
      keepFrom(position, new byte[bufferBytes]);
    }
    // Two lengths, most of the time of one byte each.
    if (limit - position < SegmentFormat.MOST_HEADER) {
      fill(SegmentFormat.MOST_HEADER);
    }
    start = position;
    keyLength = lengthAt(start);
    int second = start + SegmentFormat.sizeOf(data[start]);
    valueLength = lengthAt(second);
    keyStart = second + SegmentFormat.sizeOf(data[second]);
    if (keyLength < 0 || valueLength < 0) {
      if (keyLength != -1 || valueLength != -1) {
        throw new IOException(
            name + " is damaged: a record with lengths " + keyLength + " and " + valueLength);
      }
      position = keyStart;
      end();
      return false;
    }
    long bytes = (long) keyStart - start + keyLength + valueLength;
    isPartial = bytes > limit - position;
    if (isPartial) {
      atLeast(bytes > bufferBytes ? (long) keyStart - start + keyLength : bytes);
      isPartial = bytes > limit - position;
    }
    if (!isPartial) {
      position += (int) bytes;
    }
    return true;
  }

  /**
   * Large values are read only when their record is the next of all: each cursor of a merge has a
   * record.
   */
  @Override
  void complete() throws IOException {
    if (isPartial) {
      long bytes = (long) keyStart - start + keyLength + valueLength;
      atLeast(bytes);
      isPartial = false;
      position += (int) bytes;
    }
  }

  private int lengthAt(int at) throws IOException {
    if (at >= limit || at + SegmentFormat.sizeOf(data[at]) > limit) {
      throw new EOFException(name + " ends within a record");
    }
    return SegmentFormat.read(data, at);
  }

  /** Has {@code bytes} of the record at the position in memory. */
  private void atLeast(long bytes) throws IOException {
    if (in == null || bytes > Integer.MAX_VALUE - 8) {
      throw new EOFException(name + " ends within a record of " + bytes + " bytes");
    }
    int header = keyStart - start;
    if (limit - position < bytes) {
      fill((int) bytes);
    }
    if (limit - position < bytes) {
      throw new EOFException(name + " ends within a record of " + bytes + " bytes");
    }
    start = position;
    keyStart = start + header;
  }

  /** Reads until {@code bytes} from the position are there, or the stream ends. */
  private void fill(int bytes) throws IOException {
    if (in == null) {
      return;
    }
    int held = limit - position;
    byte[] to = data;
    if (bytes > data.length) {
      // A length may be damage: what is not there is not allocated for.
      long most = codec == null ? Math.min(bytes, Math.max(length, data.length)) : bytes;
      to = new byte[(int) Math.max(most, held)];
    }
    keepFrom(position, to);
    while (limit < data.length && limit < bytes) {
      int read = read(in, data, limit, data.length - limit);
      if (read < 0) {
        return;
      }
      limit += read;
    }
  }

  /** Moves what has been read from {@code from} on to the beginning of {@code to}. */
  private void keepFrom(int from, byte[] to) {
    int held = limit - from;
    System.arraycopy(data, from, to, 0, held);
    data = to;
    position = 0;
    limit = held;
  }

  private int read(InputStream from, byte[] to, int at, int most) throws IOException {
    try {
      return from.read(to, at, most);
    } catch (IOException failure) {
      throw unreadable(failure);
    } catch (InternalError | RuntimeException failure) {
      // What some codecs throw for damaged data.
      throw new IOException(name + " cannot be decompressed", failure);
    }
  }

  private IOException unreadable(IOException failure) {
    return new IOException(name + " cannot be read: " + failure, failure);
  }

  private void open() throws IOException {
    try {
      stream = source.open();
    } catch (IOException failure) {
      throw unreadable(failure);
    }
    checked = new IFileInputStream(stream, length, conf);
    in = checked;
    if (codec != null) {
      decompressor = CodecPool.getDecompressor(codec);
      // Without one, Hadoop's own reads what its writer wrote without a compressor: as it is.
      in = decompressor == null ? checked : decompressed();
    }
    data = new byte[bufferBytes];
  }

  private InputStream decompressed() throws IOException {
    try {
      return codec.createInputStream(checked, decompressor);
    } catch (IOException failure) {
      throw unreadable(failure);
    } catch (InternalError | RuntimeException failure) {
      throw new IOException(name + " cannot be decompressed", failure);
    }
  }

  private void end() throws IOException {
    ended = true;
    if (position < limit) {
      throw new IOException(name + " is damaged: " + (limit - position) + " bytes after its end");
    }
    if (in == null) {
      return;
    }
    byte[] rest = new byte[64];
    if (read(in, rest, 0, rest.length) > 0) {
      throw new IOException(name + " is damaged: there are bytes after its end");
    }
    if (codec != null) {
      // A decompressor may be at its end before the checksum has been reached.
      while (read(checked, rest, 0, rest.length) > 0) {
        continue;
      }
    }
    close();
  }

  @Override
  public void close() throws IOException {
    ended = true;
    if (decompressor != null) {
      CodecPool.returnDecompressor(decompressor);
      decompressor = null;
    }
    data = null;
    in = null;
    IOUtils.closeStream(stream);
    stream = null;
  }
}
