package org.howdah.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * The chunks of a file that follow the one which its reader works on, read in the background. Used
 * by the reader's thread only, while the storage is slow.
 */
final class ReadAhead implements Closeable {
  /** What reads one chunk; called by any thread, several at a time. */
  interface Source {
    /**
     * Bytes from this offset up to the next multiple of a chunk, ready to be taken; empty at the
     * end of the file. The caller gives the buffer back.
     */
    ByteBuffer read(long offset) throws IOException;
  }

  /** Chunks in a row that came from memory, after which the background no longer pays. */
  private static final int FAST_ENOUGH = 16;

  private final Source source;
  private final Speed speed;
  private final int step;
  private final int depth;
  private final long end;
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private long next;
  private int fast;

  private static final class Pending {
    final long offset;
    final CompletableFuture<ByteBuffer> bytes;
    volatile boolean slow;
    volatile boolean unwanted;

    Pending(long offset, Source source, Speed speed) {
      this.offset = offset;
      bytes =
          CompletableFuture.supplyAsync(
              () -> {
                if (unwanted) {
                  throw new CancellationException();
                }
                Stopwatch watch = new Stopwatch(true);
                try {
                  ByteBuffer read = source.read(offset);
                  slow = speed.isSlow(read.remaining(), watch.waited());
                  return read;
                } catch (IOException e) {
                  throw new CompletionException(e);
                }
              },
              Background.pool());
    }
  }

  /**
   * @param step bytes of a chunk, which ends at a multiple of it
   * @param depth chunks that are read ahead, at least 1
   * @param end length of the file; nothing is read ahead beyond it
   */
  ReadAhead(Source source, Speed speed, int step, int depth, long end) {
    this.source = source;
    this.speed = speed;
    this.step = step;
    this.depth = depth;
    this.end = end;
  }

  /**
   * The chunk at an offset, once it is there; the following ones are on their way when this
   * returns.
   */
  ByteBuffer take(long offset) throws IOException {
    if (pending.isEmpty() || pending.peekFirst().offset != offset) {
      close();
      next = offset;
      start();
    }
    Pending first = pending.removeFirst();
    while (pending.size() < depth && next < end) {
      start();
    }
    ByteBuffer bytes;
    try {
      bytes = first.bytes.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      give(first);
      throw new InterruptedIOException("interrupted while a read in the background went on");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new IOException(e.getCause());
    }
    fast = first.slow ? 0 : fast + 1;
    return bytes;
  }

  /** Whether what was read lately was in memory anyway, so that reading at once costs less. */
  boolean isPointless() {
    return fast >= FAST_ENOUGH;
  }

  /** Gives up what was read ahead; reads that run end by themselves, others do not begin. */
  @Override
  public void close() {
    pending.forEach(this::give);
    pending.clear();
  }

  private void start() {
    pending.addLast(new Pending(next, source, speed));
    next += Buffers.untilBoundary(next, step);
  }

  private void give(Pending unused) {
    unused.unwanted = true;
    unused.bytes.thenAccept(Buffers::give);
  }
}
