package org.howdah.workloads;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counter;

/**
 * All pairs (first, second) of numbers from 0, {@code group} of them with the same first, in an
 * order that looks random. Pair {@code number} of {@code total} is a bijection, so that each pair
 * is there once.
 */
final class Pairs {
  static final String GROUP = "howdah.pairs.group";

  /** The limit of the numbers that Hadoop's SecondarySort reads. */
  static final long MOST = Integer.MAX_VALUE;

  /**
   * A prime above {@link #MOST}, so that no total has a factor in common with it; with it, no
   * product overflows.
   */
  private static final long STEP = 2654435761L;

  private Pairs() {}

  static int group(Configuration conf) {
    return conf.getInt(GROUP, 1000);
  }

  /** First × group + second of the pair. */
  static long code(long number, long total) {
    return number * STEP % total;
  }

  /** What was made, and what was found, over all tasks; sums have their low 63 bits. */
  static final class Sum {
    private long pairs;
    private long hashes;

    void add(long code) {
      pairs++;
      hashes += new RandomBits(0, code).next();
    }

    void addTo(Counter pairsCounter, Counter hashesCounter) {
      pairsCounter.increment(pairs);
      hashesCounter.increment(hashes & Long.MAX_VALUE);
    }
  }
}
