package org.howdah.filesystem;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * How long a thread waits in a call. What the kernel works in its name, as for finding pages, is no
 * waiting: another thread would have to work as long. Used by the thread that started it.
 */
final class Stopwatch {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final boolean SUPPORTED = THREADS.isCurrentThreadCpuTimeSupported();

  private final long worked;
  private final long began;

  /**
   * @param exact whether work is told from waiting, which takes a system call at the start and at
   *     the end; else all counts as waiting
   */
  Stopwatch(boolean exact) {
    worked = exact && SUPPORTED ? THREADS.getCurrentThreadCpuTime() : -1;
    began = System.nanoTime();
  }

  /** Nanoseconds since the start in which the thread did not work. */
  long waited() {
    long passed = System.nanoTime() - began;
    return worked < 0 ? passed : passed - (THREADS.getCurrentThreadCpuTime() - worked);
  }
}
