package org.howdah.filesystem;

import java.util.concurrent.LinkedBlockingQueue;
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
  private static final ThreadPoolExecutor POOL = make();

  private Background() {}

  /** The largest number that any file system of this JVM asks for. */
  static synchronized void allow(int threads) {
    if (threads > POOL.getCorePoolSize()) {
      POOL.setMaximumPoolSize(threads);
      POOL.setCorePoolSize(threads);
    }
  }

  static ThreadPoolExecutor pool() {
    return POOL;
  }

  private static ThreadPoolExecutor make() {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "howdah-filesystem-" + NUMBER.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
