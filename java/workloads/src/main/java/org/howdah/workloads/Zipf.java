package org.howdah.workloads;

/**
 * Draws ranks from 0 with probability proportional to (rank + 1)^-exponent, in constant time by
 * Walker's alias method as Vose builds it (A Linear Algorithm for Generating Random Numbers with a
 * Given Distribution, 1991).
 */
final class Zipf {
  private final int[] threshold;
  private final int[] alias;

  /**
   * @param ranks how many there are, at least 1
   * @param exponent 0 makes all ranks equal
   */
  Zipf(int ranks, double exponent) {
    double[] weight = new double[ranks];
    double sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
      weight[rank] = Math.pow(rank + 1.0, -exponent);
      sum += weight[rank];
    }
    threshold = new int[ranks];
    alias = new int[ranks];
    int[] small = new int[ranks];
    int[] large = new int[ranks];
    int smalls = 0;
    int larges = 0;
    for (int rank = 0; rank < ranks; rank++) {
      weight[rank] *= ranks / sum;
      if (weight[rank] < 1) {
        small[smalls++] = rank;
      } else {
        large[larges++] = rank;
      }
    }
    while (smalls > 0 && larges > 0) {
      int less = small[--smalls];
      int more = large[larges - 1];
      keep(less, weight[less], more);
      weight[more] -= 1 - weight[less];
      if (weight[more] < 1) {
        larges--;
        small[smalls++] = more;
      }
    }
    while (larges > 0) {
      int rank = large[--larges];
      keep(rank, 1, rank);
    }
    while (smalls > 0) { // What rounding has left.
      int rank = small[--smalls];
      keep(rank, 1, rank);
    }
  }

  private void keep(int rank, double share, int other) {
    threshold[rank] = (int) Math.min(Integer.MAX_VALUE, share * (1L << 31));
    alias[rank] = other;
  }

  int draw(RandomBits random) {
    long bits = random.next();
    int rank = (int) (((bits >>> 32) * threshold.length) >>> 32);
    return (bits & Integer.MAX_VALUE) < threshold[rank] ? rank : alias[rank];
  }
}
