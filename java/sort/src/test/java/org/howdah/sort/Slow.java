package org.howdah.sort;

import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.util.Progressable;

/** Work that may be slow, and how much of it was done without a report of progress. */
final class Slow implements Progressable {
  private int unreported;
  private int most;

  void work() {
    unreported++;
    most = Math.max(most, unreported);
  }

  @Override
  public void progress() {
    unreported = 0;
  }

  /** The most work between two reports. */
  int most() {
    return most;
  }

  /** The comparator of a type, of which each comparison is work. */
  RawComparator<?> comparator(Class<? extends org.apache.hadoop.io.WritableComparable<?>> type) {
    return new WritableComparator(type, true) {
      @Override
      public int compare(byte[] one, int from, int length, byte[] other, int start, int count) {
        work();
        return WritableComparator.get(type).compare(one, from, length, other, start, count);
      }
    };
  }

  /** The order of Text, of which each look at a key is work. */
  KeyOrder textOrder() {
    return new KeyOrder.Bytes() {
      @Override
      public int contentStart(byte[] data, int start) {
        work();
        return start + 1;
      }
    };
  }
}
