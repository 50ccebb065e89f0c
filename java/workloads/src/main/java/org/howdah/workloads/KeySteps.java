package org.howdah.workloads;

import org.apache.hadoop.io.BytesWritable;

/** Looks at the keys of a file one after the other. */
final class KeySteps {
  /** A copy: Hadoop's readers give every key in the same object. */
  private final BytesWritable before = new BytesWritable();

  private boolean any;

  /** Compares the key before with this one; negative for the first. */
  int follow(BytesWritable key) {
    int step = any ? before.compareTo(key) : -1;
    before.set(key);
    any = true;
    return step;
  }
}
