package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.Path;

/** Reads of an open file at a position, by any number of threads, with Hadoop's errors. */
final class Reads {
  private final Path name;
  private final ReadChannel channel;
  private final int step;
  private final AtomicLong failures;

  /**
   * @param step bytes that are read into the heap at once, at most
   * @param failures counts the reads that went wrong
   */
  Reads(Path name, ReadChannel channel, int step, AtomicLong failures) {
    this.name = name;
    this.channel = channel;
    this.step = step;
    this.failures = failures;
  }

  /** The file's length now. */
  long length() throws IOException {
    try {
      return channel.size();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /**
   * Into the heap in pieces: Java keeps as much memory outside of it as the largest of them.
   *
   * @return bytes that were read, or -1 at the end of the file
   */
  int at(long from, ByteBuffer into) throws IOException {
    if (into.isDirect() || into.remaining() <= step) {
      return once(from, into);
    }
    int start = into.position();
    int limit = into.limit();
    int done = 0;
    try {
      for (int some = 0; done < limit - start; done += some) {
        into.limit(start + done + Math.min(step, limit - start - done));
        some = once(from + done, into);
        if (some <= 0) {
          return done > 0 ? done : some;
        }
      }
      return done;
    } catch (IOException e) {
      // As if it had been one call: a caller who tries again has its buffer as it was.
      into.position(start);
      throw e;
    } finally {
      into.limit(limit);
    }
  }

  private int once(long from, ByteBuffer into) throws IOException {
    try {
      return channel.read(into, from);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private IOException failed(IOException e) {
    if (e instanceof ClosedChannelException && !(e instanceof ClosedByInterruptException)) {
      return new IOException(name + ": " + FSExceptionMessages.STREAM_IS_CLOSED, e);
    }
    if (!(e instanceof ClosedChannelException)) {
      failures.incrementAndGet();
    }
    return Errors.of(e, "read", name);
  }
}
