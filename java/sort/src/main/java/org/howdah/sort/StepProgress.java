package org.howdah.sort;

import org.apache.hadoop.util.Progressable;

/**
 * Reports progress once in a few steps, each of which runs code that may be slow: a job's
 * comparator, combiner or codec.
 *
 * <p>The steps are counted because a report costs no more than a look at a clock: Hadoop's reporter
 * sets a flag, which its own thread sends by time. Not for several threads at once.
 */
final class StepProgress {
  /** Steps of 100 ms each report often enough for a task timeout of 10 s. */
  static final int STEPS = 1 << 6;

  private final Progressable progress;
  private int steps;

  StepProgress(Progressable progress) {
    this.progress = progress;
  }

  /** Counts one step. */
  void step() {
    if ((++steps & (STEPS - 1)) == 0) {
      report();
    }
  }

  /** Reports at once: between steps that are long. */
  void report() {
    progress.progress();
  }
}
