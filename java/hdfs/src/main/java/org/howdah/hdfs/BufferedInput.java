package org.howdah.hdfs;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.hdfs.DFSInputStream;
import org.apache.hadoop.hdfs.ReadStatistics;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.io.ByteBufferPool;

/**
 * A stream of HDFS that reads ahead into a buffer where what is asked for is smaller.
 *
 * <p>What was read ahead and is not asked for any more is taken out of the statistics, so that
 * counters of jobs say what the program read, as without the buffer.
 */
final class BufferedInput extends HdfsDataInputStream {
  // What a DataNode sends in one packet, and the client has in memory then.
  private static final int MOST_BYTES = 1 << 16;
  // After a seek, programs often read little and then seek again.
  private static final int FIRST_BYTES = 1 << 12;

  private final DFSInputStream file;
  private final HdfsDataInputStream plain;
  private final Statistics statistics;
  private final Buffer buffer = new Buffer();

  BufferedInput(DFSInputStream file, Statistics statistics) {
    super(file);
    this.file = file;
    this.plain = new HdfsDataInputStream(file);
    this.statistics = statistics;
    in = buffer;
  }

  /** What the methods of {@code DataInputStream}, which are final, read from. */
  private final class Buffer extends InputStream {
    private byte[] bytes = new byte[0];
    private int next;
    private int end;
    private int ahead = FIRST_BYTES;

    @Override
    public synchronized int read() throws IOException {
      return next < end || fill() ? bytes[next++] & 0xff : -1;
    }

    @Override
    public synchronized int read(byte[] to, int start, int length) throws IOException {
      if (next == end) {
        if (length >= MOST_BYTES || length == 0) {
          return file.read(to, start, length);
        }
        if (!fill()) {
          return -1;
        }
      }
      int some = Math.min(length, end - next);
      System.arraycopy(bytes, next, to, start, some);
      next += some;
      return some;
    }

    private boolean fill() throws IOException {
      if (bytes.length < ahead) {
        bytes = new byte[ahead];
      }
      next = 0;
      end = 0;
      int some = file.read(bytes, 0, ahead);
      ahead = Math.min(MOST_BYTES, 2 * ahead);
      end = Math.max(0, some);
      return some > 0;
    }

    /** Forgets what was read ahead; the file is then where the program is. */
    synchronized void drop() throws IOException {
      if (next < end) {
        file.seek(position());
        forget();
      }
    }

    synchronized void forget() {
      statistics.incrementBytesRead(next - end);
      end = next;
    }

    synchronized long position() throws IOException {
      return file.getPos() - (end - next);
    }

    synchronized void seek(long to) throws IOException {
      long from = file.getPos() - end;
      if (next < end && to >= from && to <= from + end) {
        // Bytes that are passed over were not read, those that are gone back to are read again.
        statistics.incrementBytesRead(next - (to - from));
        next = (int) (to - from);
        return;
      }
      file.seek(to);
      forget();
      ahead = FIRST_BYTES;
    }

    @Override
    public synchronized long skip(long bytes) throws IOException {
      if (bytes <= 0) {
        return file.skip(bytes);
      }
      long position = position();
      long to = Math.min(position + bytes, file.getFileLength());
      seek(to);
      return to - position;
    }

    @Override
    public synchronized int available() throws IOException {
      return (int) Math.min(Integer.MAX_VALUE, (long) (end - next) + file.available());
    }

    synchronized void free() throws IOException {
      drop();
      bytes = new byte[0];
    }

    @Override
    public synchronized void close() throws IOException {
      forget();
      bytes = new byte[0];
      file.close();
    }
  }

  @Override
  public void seek(long to) throws IOException {
    buffer.seek(to);
  }

  @Override
  public long getPos() throws IOException {
    return buffer.position();
  }

  @Override
  public boolean seekToNewSource(long to) throws IOException {
    buffer.drop();
    return plain.seekToNewSource(to);
  }

  /** Hadoop's stream, which is where the program is, should somebody read from it. */
  @Override
  public InputStream getWrappedStream() {
    free();
    return file;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    buffer.drop();
    return plain.read(to);
  }

  @Override
  public ByteBuffer read(ByteBufferPool pool, int most, EnumSet<ReadOption> options)
      throws IOException {
    buffer.drop();
    return plain.read(pool, most, options);
  }

  @Override
  public void releaseBuffer(ByteBuffer lent) {
    plain.releaseBuffer(lent);
  }

  @Override
  public int read(long position, byte[] to, int start, int length) throws IOException {
    return plain.read(position, to, start, length);
  }

  @Override
  public void readFully(long position, byte[] to, int start, int length) throws IOException {
    plain.readFully(position, to, start, length);
  }

  @Override
  public void readFully(long position, byte[] to) throws IOException {
    plain.readFully(position, to);
  }

  @Override
  public int read(long position, ByteBuffer to) throws IOException {
    return plain.read(position, to);
  }

  @Override
  public void readFully(long position, ByteBuffer to) throws IOException {
    plain.readFully(position, to);
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    plain.readVectored(ranges, allocate);
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    plain.readVectored(ranges, allocate, release);
  }

  @Override
  public int minSeekForVectorReads() {
    return plain.minSeekForVectorReads();
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return plain.maxReadSizeForVectorReads();
  }

  @Override
  public FileDescriptor getFileDescriptor() throws IOException {
    return plain.getFileDescriptor();
  }

  @Override
  public void setReadahead(Long bytes) throws IOException {
    plain.setReadahead(bytes);
  }

  @Override
  public void setDropBehind(Boolean isDropped) throws IOException {
    plain.setDropBehind(isDropped);
  }

  @Override
  public void unbuffer() {
    free();
    plain.unbuffer();
  }

  @Override
  public boolean hasCapability(String capability) {
    return plain.hasCapability(capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return plain.getIOStatistics();
  }

  @Override
  public String toString() {
    return plain.toString();
  }

  @Override
  public DatanodeInfo getCurrentDatanode() {
    return plain.getCurrentDatanode();
  }

  @Override
  public ExtendedBlock getCurrentBlock() {
    return plain.getCurrentBlock();
  }

  @Override
  public List<LocatedBlock> getAllBlocks() throws IOException {
    return plain.getAllBlocks();
  }

  @Override
  public long getVisibleLength() {
    return plain.getVisibleLength();
  }

  @Override
  public ReadStatistics getReadStatistics() {
    return plain.getReadStatistics();
  }

  @Override
  public void clearReadStatistics() {
    plain.clearReadStatistics();
  }

  private void free() {
    try {
      buffer.free();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
