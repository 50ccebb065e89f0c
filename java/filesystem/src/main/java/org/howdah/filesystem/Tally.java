package org.howdah.filesystem;

import java.util.function.LongConsumer;

/**
 * Bytes on their way into Hadoop's statistics: those of small calls, of which a job makes two for
 * each record, are counted together. Used under its stream's lock.
 */
final class Tally {
  /** Bytes of a call from which on the statistics hear of it at once. */
  private static final int SMALL = 512;

  private final LongConsumer statistics;
  private long pending;

  Tally(LongConsumer statistics) {
    this.statistics = statistics;
  }

  void add(int count) {
    pending += count;
    if (count >= SMALL) {
      report();
    }
  }

  /** Called at the end of every buffer, and of the stream. */
  void report() {
    if (pending > 0) {
      statistics.accept(pending);
      pending = 0;
    }
  }
}
