package org.howdah.filesystem;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.impl.StoreImplementationUtils;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;

/** Writes a file. Other threads than the writer may flush and close it. */
final class FileOutput extends OutputStream
    implements Syncable, Abortable, StreamCapabilities, IOStatisticsSource {
  /** A caller's own write of this size is as good as one of ours, and saves a copy. */
  private static final int LARGE_CALL = 64 << 10;

  /** Size of the first buffer of a file. */
  private static final int FIRST_WRITE = 128 << 10;

  private final Path name;
  private final FileChannel channel;
  private final long start;
  private final Settings settings;
  private final OutputEnd end;
  private final boolean syncOnClose;
  private final boolean atomic;
  private final WriteBehind behind;
  private final OpenFiles open;
  private final StreamCounters counters =
      new StreamCounters(
          StreamStatisticNames.STREAM_WRITE_BYTES, StreamStatisticNames.STREAM_WRITE_EXCEPTIONS);
  private final AtomicLong bytesWritten = counters.of(StreamStatisticNames.STREAM_WRITE_BYTES);
  private final Tally tally;
  private final IOStatisticsAggregator aggregator =
      IOStatisticsContext.getCurrentIOStatisticsContext().getAggregator();
  private final Crc crc;
  private final byte[] single = new byte[1];

  private ByteBuffer chunk;
  private long written;
  private int[] sums = new int[16];
  private boolean closed;
  private volatile boolean aborted;

  /** What its writer does not know yet: that others ended it, and the file is not whole. */
  private IOException lost;

  /**
   * @param channel at the place where writing begins; belongs to this from now on
   * @param start this place, in bytes of the file
   * @param statistics hears how many bytes were written
   * @param checked whether checksums are made, which needs the file to be empty yet
   * @param sync whether closing waits for the storage
   * @param atomic whether the file appears only when it is complete
   * @param open those that are written, of which this is one until it ends
   */
  FileOutput(
      Path name,
      FileChannel channel,
      long start,
      LongConsumer statistics,
      Settings settings,
      boolean checked,
      boolean sync,
      boolean atomic,
      OutputEnd end,
      OpenFiles open) {
    this.name = name;
    this.channel = channel;
    this.start = start;
    tally = new Tally(statistics);
    this.settings = settings;
    this.end = end;
    this.atomic = atomic;
    crc = checked ? new Crc() : null;
    behind = new WriteBehind(channel, settings.speed, settings.buffersBehind, sync);
    syncOnClose = sync;
    this.open = open;
    open.add(this);
  }

  /** Bytes of the file before those that are written here. */
  long start() {
    return start;
  }

  @Override
  public synchronized void write(int value) throws IOException {
    checkOpen();
    if (chunk == null) {
      chunk = fresh();
    }
    chunk.put((byte) value);
    if (crc != null) {
      single[0] = (byte) value;
      sum(single, 0, 1);
    }
    taken(1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int count) throws IOException {
    checkOpen();
    if (offset < 0 || count < 0 || count > bytes.length - offset) {
      throw new IndexOutOfBoundsException(offset + " and " + count + " bytes of " + bytes.length);
    }
    if (crc != null) {
      sum(bytes, offset, count);
    }
    int at = offset;
    int left = count;
    while (left > 0) {
      int some;
      if (chunk == null && left >= LARGE_CALL && !behind.isBackground()) {
        some = Math.min(left, toBoundary());
        directly(ByteBuffer.wrap(bytes, at, some));
      } else {
        if (chunk == null) {
          chunk = fresh();
        }
        some = Math.min(left, chunk.remaining());
        chunk.put(bytes, at, some);
        taken(some);
      }
      at += some;
      left -= some;
    }
  }

  /**
   * A small one for the first bytes, which may be all, of one file of many that are open; the
   * others end at multiples of their size.
   */
  private ByteBuffer fresh() throws IOException {
    int size = settings.bufferSize;
    try {
      if (written < FIRST_WRITE) {
        return Buffers.of(Math.min(size, FIRST_WRITE)).take();
      }
      ByteBuffer buffer = Buffers.of(size).take();
      buffer.limit(toBoundary());
      return buffer;
    } catch (IOException e) {
      // What the caller wanted to write is missing, whatever it writes after it.
      behind.failed(e);
      throw failed(e, "write");
    }
  }

  private int toBoundary() {
    return Buffers.untilBoundary(start + written, settings.bufferSize);
  }

  /**
   * Does nothing: as in HDFS, only {@link #hflush} promises anything. Those around this stream call
   * it when it is closed, too.
   */
  @Override
  public void flush() {}

  @Override
  public synchronized void hflush() throws IOException {
    checkOpen();
    uninterrupted("flush", this::drain);
  }

  @Override
  public synchronized void hsync() throws IOException {
    checkOpen();
    uninterrupted(
        "sync",
        () -> {
          drain();
          behind.force();
        });
  }

  private void drain() throws IOException {
    send();
    behind.drain();
  }

  private interface Step {
    void take() throws IOException;
  }

  /**
   * Java closes a channel whose writer is interrupted, and what the stream has accepted would be
   * lost. So the thread is interrupted again afterwards, as those who interrupt it expect.
   */
  private void uninterrupted(String operation, Step step) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      step.take();
    } catch (IOException e) {
      throw failed(e, operation);
    } finally {
      if (behind.takeInterrupt() || interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      IOException untold = lost;
      lost = null;
      if (untold != null) {
        throw untold;
      }
      return;
    }
    if (atomic && Thread.currentThread().isInterrupted()) {
      // What it has written may be no more than it came to.
      InterruptedIOException interrupted =
          new InterruptedIOException(
              name + ": its writer was interrupted before it was complete, so it is not made");
      IOException left = abort().anyCleanupException();
      if (left != null) {
        interrupted.addSuppressed(left);
      }
      throw interrupted;
    }
    closed = true;
    try {
      uninterrupted("close", this::finish);
    } finally {
      ended();
    }
  }

  /** Called once, when the channel is closed. */
  private void ended() {
    open.remove(this);
    if (chunk != null) {
      Buffers.give(chunk);
      chunk = null;
    }
    aggregator.aggregate(counters);
  }

  /** At the end of its file system: nobody has said that it is complete. */
  synchronized void closeOrAbort() throws IOException {
    if (closed) {
      return;
    }
    if (atomic) {
      lost = new IOException(name + ": its FileSystem was closed before it, so it is not made");
      abort();
      return;
    }
    try {
      close();
    } catch (IOException e) {
      lost = e;
      throw e;
    }
  }

  private void finish() throws IOException {
    boolean whole = false;
    try {
      drain();
      if (syncOnClose) {
        behind.force();
      }
      channel.close();
      whole = true;
      end.complete(written, checksums());
    } catch (IOException e) {
      if (!whole) {
        abandon(e);
      }
      throw e;
    }
  }

  /** Closing may fail where the storage is full, and then the file must go all the same. */
  private void closeAndAbandon() throws IOException {
    try {
      channel.close();
    } finally {
      end.abandon();
    }
  }

  private void abandon(IOException because) {
    behind.stop();
    try {
      closeAndAbandon();
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }

  /**
   * Ends the stream; a file that was to appear when complete does not, and any other stays as far
   * as it got.
   */
  @Override
  public synchronized AbortableResult abort() {
    IOException failure = null;
    boolean already = closed;
    if (!closed) {
      closed = true;
      aborted = true;
      try {
        uninterrupted(
            "abort",
            () -> {
              behind.stop();
              closeAndAbandon();
            });
      } catch (IOException e) {
        failure = e;
      }
      ended();
    }
    return new Aborted(already, failure);
  }

  @Override
  public boolean hasCapability(String capability) {
    if (StoreImplementationUtils.isProbeForSyncable(capability)) {
      // What is flushed of an atomic file has no name yet, under which it could be found again.
      return !atomic;
    }
    switch (capability.toLowerCase(Locale.ROOT)) {
      case IOSTATISTICS:
      case IOSTATISTICS_CONTEXT:
        return true;
      case ABORTABLE_STREAM:
        return atomic;
      default:
        return false;
    }
  }

  @Override
  public IOStatistics getIOStatistics() {
    return counters;
  }

  @Override
  public String toString() {
    return name + " after " + written + " bytes";
  }

  private static final class Aborted implements AbortableResult {
    private final boolean already;
    private final IOException failure;

    Aborted(boolean already, IOException failure) {
      this.already = already;
      this.failure = failure;
    }

    @Override
    public boolean alreadyClosed() {
      return already;
    }

    @Override
    public IOException anyCleanupException() {
      return failure;
    }
  }

  private void taken(int count) throws IOException {
    counted(count);
    if (!chunk.hasRemaining()) {
      uninterrupted("write", this::send);
    }
  }

  private void directly(ByteBuffer bytes) throws IOException {
    int count = bytes.remaining();
    uninterrupted("write", () -> behind.writeDirectly(bytes));
    counted(count);
  }

  private void counted(int count) {
    written += count;
    bytesWritten.lazySet(written);
    tally.add(count);
  }

  private void send() throws IOException {
    tally.report();
    if (chunk != null && chunk.position() > 0) {
      ByteBuffer full = chunk;
      chunk = null;
      full.flip();
      behind.write(full);
    }
  }

  /** Called before the bytes count as written. */
  private void sum(byte[] bytes, int offset, int count) {
    int at = offset;
    int left = count;
    long before = written;
    while (left > 0) {
      int some = (int) Math.min(left, Checksums.CHUNK - before % Checksums.CHUNK);
      crc.update(bytes, at, some);
      before += some;
      at += some;
      left -= some;
      if (before % Checksums.CHUNK == 0) {
        keep(before);
      }
    }
  }

  private void keep(long end) {
    int index = (int) ((end - 1) / Checksums.CHUNK);
    if (index == sums.length) {
      sums = Arrays.copyOf(sums, 2 * index);
    }
    sums[index] = crc.take();
  }

  private Checksums checksums() {
    if (crc == null) {
      return null;
    }
    if (written % Checksums.CHUNK != 0) {
      keep(written);
    }
    int count = (int) ((written + Checksums.CHUNK - 1) / Checksums.CHUNK);
    return new Checksums(Checksums.CHUNK, written, Arrays.copyOf(sums, count));
  }

  private IOException failed(IOException e, String operation) {
    counters.of(StreamStatisticNames.STREAM_WRITE_EXCEPTIONS).incrementAndGet();
    return Errors.of(e, operation, name);
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException(
          name
              + ": "
              + (aborted ? "the stream was aborted" : FSExceptionMessages.STREAM_IS_CLOSED));
    }
  }
}
