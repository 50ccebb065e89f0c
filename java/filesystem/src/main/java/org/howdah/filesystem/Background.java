package org.howdah.filesystem;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of this JVM that read and write while their callers go on; they end when there is
 * nothing to do.
 */
final class Background {
  private static final int IDLE_SECONDS = 10;
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final ThreadPoolExecutor POOL = make(1, 1, new LinkedBlockingQueue<>());

  /** Nobody waits here for a thread that waits for another storage. */
  private static final ThreadPoolExecutor WAITING =
      make(0, Integer.MAX_VALUE, new SynchronousQueue<>());

  private Background() {}

  /** The largest number that any file system of this JVM asks for. */
  static synchronized void allow(int threads) {
    if (threads > POOL.getCorePoolSize()) {
      POOL.setMaximumPoolSize(threads);
      POOL.setCorePoolSize(threads);
    }
  }

  /** For reading and writing. */
  static ThreadPoolExecutor pool() {
    return POOL;
  }

  /** Something that these threads do for others. */
  interface Work {
    void run() throws IOException;
  }

  /** Starts what waits for the storage, at once and however much of it there is. */
  static CompletableFuture<Void> start(Work work) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            work.run();
          } catch (IOException e) {
            throw new CompletionException(e);
          }
        },
        WAITING);
  }

  /**
   * Waits for the end of some work, and throws what it has thrown. What it uses, such as a channel,
   * may be used again afterwards, so that no interrupt ends this earlier.
   *
   * @return whether the thread was interrupted meanwhile; it is not any more, unless this throws
   */
  static boolean await(CompletableFuture<Void> work) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          work.get();
          return interrupted;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      Throwable cause = e.getCause();
      while (cause instanceof CompletionException && cause.getCause() != null) {
        cause = cause.getCause();
      }
      if (cause instanceof IOException) {
        throw (IOException) cause;
      }
      throw new IOException(cause);
    }
  }

  private static ThreadPoolExecutor make(int core, int most, BlockingQueue<Runnable> queue) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            core,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            queue,
            work -> {
              Thread thread = new Thread(work, "howdah-filesystem-" + NUMBER.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
