package org.howdah.filesystem;

/** Whether the storage of one stream is slow. Used by one thread at a time. */
final class Pace {
  /** Slow calls in a row that are no accident, as one is when another process had the processor. */
  private static final int NO_ACCIDENT = 4;

  /** However often it was an accident. */
  private static final int MOST = 64;

  private final Speed speed;
  private int needed = NO_ACCIDENT;
  private int slow;

  Pace(Speed speed) {
    this.speed = speed;
  }

  /**
   * Called before each call that may wait for the storage; where the last did, for how long is of
   * interest.
   */
  Stopwatch start() {
    return new Stopwatch(slow > 0);
  }

  /** Called after it, with how long it waited; whether the storage is slow by now. */
  boolean isSlow(long bytes, long nanoseconds) {
    slow = speed.isSlow(bytes, nanoseconds) ? slow + 1 : 0;
    return slow >= needed;
  }

  /** What follows is not where the calls before were. */
  void interrupted() {
    slow = 0;
  }

  /** The storage turned out to be fast: from now on it takes twice as many calls. */
  void mistaken() {
    slow = 0;
    needed = Math.min(MOST, 2 * needed);
  }
}
