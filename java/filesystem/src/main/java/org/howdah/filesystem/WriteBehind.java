package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Writes buffers to a channel in their order, at once while the storage is fast and in the
 * background while it is slow, and keeps the storage busy where the end will wait for it. Used by
 * the writer's thread only; the first failure comes back from every later call.
 */
final class WriteBehind {
  /** Bytes after which the storage is told to begin, where the end waits for it anyway. */
  private static final int SYNC_EVERY = 8 << 20;

  /** Buffers in a row that went into memory, after which the background no longer pays. */
  private static final int FAST_ENOUGH = 16;

  private final FileChannel channel;
  private final Speed speed;
  private final int depth;
  private final boolean sync;
  private final ArrayDeque<CompletableFuture<Void>> pending = new ArrayDeque<>();
  private CompletableFuture<Void> syncing = CompletableFuture.completedFuture(null);
  private final Pace pace;
  private boolean background;
  private volatile int fast;
  private long unsynced;
  private IOException failure;
  private boolean interrupted;

  /**
   * @param depth buffers that may wait; 0 for none in the background
   * @param sync whether the end waits for the storage
   */
  WriteBehind(FileChannel channel, Speed speed, int depth, boolean sync) {
    this.channel = channel;
    this.speed = speed;
    this.depth = depth;
    this.sync = sync;
    pace = new Pace(speed);
  }

  /** Writes a buffer of the pool, which belongs to this from now on. */
  void write(ByteBuffer bytes) throws IOException {
    check();
    int count = bytes.remaining();
    if (background && fast >= FAST_ENOUGH) {
      await(0);
      background = false;
      pace.mistaken();
    }
    if (background) {
      await(depth - 1);
      enqueue(bytes);
    } else {
      try {
        writeNow(bytes);
      } finally {
        Buffers.give(bytes);
      }
    }
    keepBusy(count);
  }

  /** Writes bytes of the caller, who may use the buffer again afterwards. */
  void writeDirectly(ByteBuffer bytes) throws IOException {
    check();
    await(0);
    int count = bytes.remaining();
    writeNow(bytes);
    keepBusy(count);
  }

  boolean isBackground() {
    return background;
  }

  /** Returns when everything is in the hands of the machine, and visible to every other reader. */
  void drain() throws IOException {
    check();
    await(0);
  }

  /** Returns when everything is on the storage. */
  void force() throws IOException {
    drain();
    try {
      wait(syncing);
      // Not by the writer's thread: Java closes the channel if that is interrupted meanwhile.
      wait(Background.start(() -> channel.force(true)));
      unsynced = 0;
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /**
   * Whether the writer was interrupted since this was last asked, while it waited. It is not
   * interrupted now: Java would close a channel that it used next.
   */
  boolean takeInterrupt() {
    boolean was = interrupted;
    interrupted = false;
    return was;
  }

  /** Waits for what runs, whatever becomes of it; the channel may be closed afterwards. */
  void stop() {
    while (!pending.isEmpty()) {
      try {
        await(0);
      } catch (IOException e) {
        // Kept by what threw it; the rest fails too, and is waited for.
      }
    }
    try {
      wait(syncing);
    } catch (IOException e) {
      failed(e);
    }
  }

  private void enqueue(ByteBuffer bytes) {
    CompletableFuture<Void> last = pending.peekLast();
    if (last == null) {
      last = CompletableFuture.completedFuture(null);
    }
    pending.addLast(
        last.handleAsync(
            (done, broken) -> {
              try {
                if (broken != null) {
                  throw new CompletionException(broken);
                }
                Stopwatch watch = new Stopwatch(true);
                int count = bytes.remaining();
                complete(bytes);
                fast = speed.isSlow(count, watch.waited()) ? 0 : fast + 1;
                return null;
              } catch (IOException e) {
                throw new CompletionException(e);
              } finally {
                Buffers.give(bytes);
              }
            },
            Background.pool()));
  }

  private void writeNow(ByteBuffer bytes) throws IOException {
    Stopwatch watch = pace.start();
    int count = bytes.remaining();
    try {
      complete(bytes);
    } catch (IOException e) {
      throw failed(e);
    }
    if (pace.isSlow(count, watch.waited()) && depth > 0) {
      background = true;
      fast = 0;
    }
  }

  private void complete(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private void keepBusy(int count) {
    unsynced += count;
    if (sync && unsynced >= SYNC_EVERY && syncing.isDone() && !syncing.isCompletedExceptionally()) {
      unsynced = 0;
      syncing = Background.start(() -> channel.force(false));
    }
  }

  private void await(int left) throws IOException {
    while (pending.size() > left) {
      try {
        wait(pending.peekFirst());
      } catch (IOException e) {
        throw failed(e);
      } finally {
        pending.removeFirst();
      }
    }
  }

  private void check() throws IOException {
    if (failure == null && syncing.isCompletedExceptionally()) {
      try {
        wait(syncing);
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw new IOException("an earlier write failed: " + failure, failure);
    }
  }

  /** Also what the writer could not even hand over. */
  IOException failed(IOException e) {
    if (failure == null) {
      failure = e;
    }
    return e;
  }

  private void wait(CompletableFuture<Void> work) throws IOException {
    interrupted |= Background.await(work);
  }
}
