package org.howdah.spark;

import java.io.Serializable;
import java.util.Arrays;

/** The keys at which one partition of sorted rows ends and the next begins. */
final class Boundaries implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Ascending, as unsigned bytes; one fewer than there are partitions. */
  private final byte[][] firsts;

  /**
   * Boundaries that divide {@code sample} into {@code partitions} equal parts. Sorts the sample.
   * With more partitions than keys some stay empty.
   */
  Boundaries(byte[][] sample, int partitions) {
    Arrays.sort(sample, Arrays::compareUnsigned);
    firsts = new byte[sample.length == 0 ? 0 : partitions - 1][];
    for (int boundary = 0; boundary < firsts.length; boundary++) {
      firsts[boundary] = sample[(int) ((boundary + 1L) * sample.length / partitions)];
    }
  }

  /** The number of the partition that {@code key} belongs in, from 0. */
  int partition(byte[] key) {
    int low = 0;
    int high = firsts.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Arrays.compareUnsigned(firsts[middle], key) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
