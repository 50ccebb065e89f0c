package org.howdah.filesystem;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;

/**
 * Reads a file. Sequential reads are by one thread at a time; positioned and vectored ones by any
 * number, at any time.
 */
final class FileInput extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanSetReadahead,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {
  /**
   * The first read after a seek, which may be the only one; each that follows takes up to four
   * times as much.
   */
  private static final int FIRST_READ = 128 << 10;

  private static final int GROWTH = 4;

  /** A caller's own read of this size is as good as one of ours, and saves a copy. */
  private static final int LARGE_CALL = 64 << 10;

  private final Path name;
  private final ReadChannel channel;
  private final Reads reads;
  private final FileSystem.Statistics statistics;
  private final Tally tally;
  private final Speed speed;
  private final Pace pace;
  private final int step;
  private final Checksums checksums;
  private final AtomicLong positioned = new AtomicLong();
  private final StreamCounters counters =
      new StreamCounters(
          StreamStatisticNames.STREAM_READ_BYTES,
          StreamStatisticNames.STREAM_READ_EXCEPTIONS,
          StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS);
  private final AtomicLong bytesRead = counters.of(StreamStatisticNames.STREAM_READ_BYTES);
  private final IOStatisticsAggregator aggregator =
      IOStatisticsContext.getCurrentIOStatisticsContext().getAggregator();

  private int depth;
  private long length;
  private long position;
  private long given;
  private boolean ended;

  /** What was read and not given yet: its next byte is the one at {@link #position}. */
  private ByteBuffer chunk;

  private ReadAhead ahead;
  private int size;
  private long expected;

  /**
   * @param channel belongs to this from now on
   * @param checksums that sequential reads are compared with, or null
   */
  FileInput(
      Path name,
      ReadChannel channel,
      Settings settings,
      FileSystem.Statistics statistics,
      Checksums checksums)
      throws IOException {
    this.name = name;
    this.channel = channel;
    this.statistics = statistics;
    tally = new Tally(statistics::incrementBytesRead);
    this.checksums = checksums;
    step = checksums == null ? settings.bufferSize : checksums.chunk;
    reads =
        new Reads(name, channel, step, counters.of(StreamStatisticNames.STREAM_READ_EXCEPTIONS));
    speed = settings.speed;
    pace = new Pace(speed);
    size = Math.min(step, FIRST_READ);
    depth = buffersAhead(settings.buffersAhead * (long) settings.bufferSize);
    length = channel.size();
  }

  @Override
  public synchronized int read() throws IOException {
    if (!hasChunk()) {
      return -1;
    }
    int value = chunk.get() & 0xff;
    given(1);
    return value;
  }

  @Override
  public synchronized int read(byte[] bytes, int offset, int count) throws IOException {
    validatePositionedReadArgs(position, bytes, offset, count);
    checkOpen();
    if (count == 0) {
      return 0;
    }
    if (isDirect(count)) {
      return straight(ByteBuffer.wrap(bytes, offset, Math.min(count, step)));
    }
    if (!hasChunk()) {
      return -1;
    }
    int given = Math.min(count, chunk.remaining());
    chunk.get(bytes, offset, given);
    given(given);
    return given;
  }

  @Override
  public synchronized int read(ByteBuffer into) throws IOException {
    checkOpen();
    if (!into.hasRemaining()) {
      return 0;
    }
    if (isDirect(into.remaining())) {
      return straight(into);
    }
    if (!hasChunk()) {
      return -1;
    }
    int given = Math.min(into.remaining(), chunk.remaining());
    ByteBuffer some = chunk.duplicate();
    some.limit(some.position() + given);
    into.put(some);
    chunk.position(chunk.position() + given);
    given(given);
    return given;
  }

  @Override
  public int read(long from, byte[] bytes, int offset, int count) throws IOException {
    validatePositionedReadArgs(from, bytes, offset, count);
    return read(from, ByteBuffer.wrap(bytes, offset, count));
  }

  @Override
  public int read(long from, ByteBuffer into) throws IOException {
    if (from < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK);
    }
    if (!into.hasRemaining()) {
      return 0;
    }
    int count = reads.at(from, into);
    if (count > 0) {
      statistics.incrementBytesRead(count);
      positioned.addAndGet(count);
      bytesRead.addAndGet(count);
    }
    return count;
  }

  @Override
  public void readFully(long from, ByteBuffer into) throws IOException {
    long at = from;
    while (into.hasRemaining()) {
      int count = read(at, into);
      if (count < 0) {
        throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY);
      }
      at += count;
    }
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    checkOpen();
    new VectoredReads(this::readFully, step).start(ranges, reads.length(), allocate);
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return step;
  }

  @Override
  public synchronized void seek(long to) throws IOException {
    checkOpen();
    if (to < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK);
    }
    if (to > length) {
      length = reads.length();
      if (to > length) {
        throw new EOFException(
            FSExceptionMessages.CANNOT_SEEK_PAST_EOF + " of " + name + ": " + to + " of " + length);
      }
    }
    if (to == position) {
      return;
    }
    counters.of(StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS).incrementAndGet();
    long start = chunk == null ? 0 : position - chunk.position();
    if (chunk != null && to >= start && to <= start + chunk.limit()) {
      chunk.position((int) (to - start));
    } else {
      drop();
      if (to != expected) {
        stopAhead();
      }
    }
    position = to;
  }

  @Override
  public synchronized long skip(long count) throws IOException {
    checkOpen();
    length = reads.length();
    long skipped = Math.max(0, Math.min(count, length - position));
    seek(position + skipped);
    return skipped;
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, reads.length() - position));
  }

  @Override
  public long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public synchronized void setReadahead(Long bytes) {
    if (bytes != null) {
      depth = buffersAhead(bytes);
      stopAhead();
    }
  }

  private int buffersAhead(long bytes) {
    return (int) Math.min(1024, (Math.max(0, bytes) + step - 1) / step);
  }

  @Override
  public synchronized void unbuffer() {
    drop();
    stopAhead();
  }

  @Override
  public void close() throws IOException {
    if (!channel.isOpen()) {
      return;
    }
    try {
      // First, so that a reader who holds the lock is not waited for.
      channel.close();
    } catch (IOException e) {
      throw Errors.of(e, "close", name);
    } finally {
      end();
    }
  }

  private synchronized void end() {
    drop();
    stopAhead();
    if (!ended) {
      ended = true;
      count();
      aggregator.aggregate(counters);
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    switch (capability.toLowerCase(Locale.ROOT)) {
      case READAHEAD:
      case UNBUFFER:
      case READBYTEBUFFER:
      case PREADBYTEBUFFER:
      case VECTOREDIO:
      case IOSTATISTICS:
      case IOSTATISTICS_CONTEXT:
        return true;
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
    return name + " at " + position + " of " + length;
  }

  /** Whether a read is large enough to go to where the caller wants it, with no copy in between. */
  private boolean isDirect(int count) {
    return count >= Math.min(size, LARGE_CALL)
        && (chunk == null || !chunk.hasRemaining())
        && ahead == null
        && checksums == null;
  }

  private int straight(ByteBuffer into) throws IOException {
    drop(position == expected);
    Stopwatch watch = pace.start();
    int count = reads.at(position, into);
    if (count <= 0) {
      return -1;
    }
    learn(position, count, watch.waited());
    given(count);
    return count;
  }

  /** Makes the next byte be in the chunk; false at the end of the file. */
  private boolean hasChunk() throws IOException {
    checkOpen();
    if (chunk != null && chunk.hasRemaining()) {
      return true;
    }
    drop(position == expected);
    long start = checksums == null ? position : position - position % step;
    if (ahead != null && ahead.isPointless()) {
      stopAhead();
      pace.mistaken();
    }
    if (ahead != null) {
      chunk = ahead.take(start);
      expected = start + chunk.limit();
    } else {
      Stopwatch watch = pace.start();
      chunk = chunkAt(start, checksums == null ? piece(start) : step);
      learn(start, chunk.limit(), watch.waited());
    }
    int skipped = (int) (position - start);
    if (chunk.limit() <= skipped) {
      drop(true);
      return false;
    }
    chunk.position(skipped);
    return true;
  }

  private ByteBuffer chunkAt(long start, int count) throws IOException {
    ByteBuffer read = Buffers.of(count <= FIRST_READ ? Math.min(step, FIRST_READ) : step).take();
    try {
      read.limit(count);
      long at = start;
      for (int some; read.hasRemaining() && (some = reads.at(at, read)) > 0; at += some) {
        // A read may give less than it could, as at the edge of a stripe.
        if (checksums == null) {
          break;
        }
      }
      read.flip();
      if (checksums != null && read.hasRemaining() && !checksums.matches(start, read, new Crc())) {
        throw new ChecksumException(
            name + ": what is stored from " + start + " on is not what was written", start);
      }
      return read;
    } catch (IOException | RuntimeException e) {
      Buffers.give(read);
      throw e;
    }
  }

  /** After a read by this thread: how much the next takes, and whether others do it. */
  private void learn(long start, int count, long waited) {
    boolean sequential = start == expected;
    expected = start + count;
    size = (int) Math.min(step, sequential ? (long) size * GROWTH : size);
    if (!sequential) {
      pace.interrupted();
    }
    if (pace.isSlow(count, waited) && depth > 0 && expected < length) {
      ReadAhead.Source source = at -> chunkAt(at, Buffers.untilBoundary(at, step));
      ahead = new ReadAhead(source, speed, step, depth, length);
    }
  }

  /** Bytes of the next read; the largest end at multiples of their size. */
  private int piece(long from) {
    return size < step ? size : Buffers.untilBoundary(from, step);
  }

  private void given(int count) {
    position += count;
    given += count;
    count();
    tally.add(count);
  }

  /** What a positioned read of another thread adds at this moment counts from the next call on. */
  private void count() {
    bytesRead.lazySet(given + positioned.get());
  }

  /** After this, what is read next is somewhere else. */
  private void drop() {
    drop(false);
  }

  private void drop(boolean sequential) {
    tally.report();
    if (chunk != null) {
      Buffers.give(chunk);
      chunk = null;
    }
    if (!sequential) {
      size = Math.min(step, FIRST_READ);
    }
  }

  private void stopAhead() {
    if (ahead != null) {
      ahead.close();
      ahead = null;
    }
  }

  private void checkOpen() throws IOException {
    if (!channel.isOpen()) {
      throw new IOException(name + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    }
  }
}
