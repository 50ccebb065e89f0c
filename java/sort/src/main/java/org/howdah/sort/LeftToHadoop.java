package org.howdah.sort;

import java.io.IOException;

/** A map that is left to Hadoop's own sort, and why. */
final class LeftToHadoop extends IOException {
  /** Each has a counter of its own. */
  enum Reason {
    /** Settings that are not valid: Hadoop's own says so in its words. */
    SETTINGS,
    /** {@code map.sort.class} names another sort. */
    SORT_CLASS,
    /** More partitions than an entry can tell apart. */
    PARTITIONS,
    /** A provider of key orders or folds that is broken. */
    PROVIDER,
    OTHER
  }

  private static final long serialVersionUID = 1;

  private final Reason reason;

  LeftToHadoop(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  LeftToHadoop(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  Reason reason() {
    return reason;
  }
}
