package org.howdah.sort;

import java.util.Arrays;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.util.Progressable;

/**
 * Sorts the entries of one partition after another: by radix of their prefixes from the first bit
 * in which any two of them differ, then, among equal prefixes, by those of the bytes that follow,
 * and where there are none by the comparator.
 */
final class EntrySort {
  // Below this many entries, insertion is faster than counting.
  private static final int FEW = 24;
  private static final int MANY = 1 << 14;
  private static final int FINE_BITS = 11;
  private static final int COARSE_BITS = 8;

  // Entries between two reports of progress: a few hundred comparisons, as each report stalls the
  // processor for as long as some of them take.
  private static final int INSERTED = 3 * FEW;
  private static final int JOINED = 1 << 8;
  private static final int JOINED_OF_MANY = 1 << 6;

  /** No run, and no entry. */
  private static final int NONE = -1;

  /**
   * How many bytes of common beginning are sorted by radix. Bounds the recursion, for keys of any
   * length.
   */
  private static final int DEEPEST = 256;

  private final RecordBuffer records;
  private final KeyOrder order;
  private final KeyOrder.Bytes bytes;
  private final RawComparator<?> comparator;
  private final StepProgress progress;
  private long[] entries;
  private long[] spare = new long[0];
  private boolean hasOnlyFew;

  EntrySort(
      RecordBuffer records, KeyOrder order, RawComparator<?> comparator, Progressable progress) {
    this.records = records;
    this.order = order;
    this.bytes = order instanceof KeyOrder.Bytes ? (KeyOrder.Bytes) order : null;
    this.comparator = comparator;
    this.progress = new StepProgress(progress);
  }

  /**
   * Sorts the first {@code count} of {@code unsorted}, in runs of as many entries as is returned:
   * all of them, unless there is no memory for that.
   */
  int sort(long[] unsorted, int count) {
    entries = unsorted;
    int run = spareFor(count);
    for (int from = 0; from < count; from += run) {
      int end = Math.min(count, from + run);
      if (order.kind() == KeyOrder.Kind.UNKNOWN) {
        merge(from, end);
      } else {
        radix(from, end, 0);
      }
    }
    return run;
  }

  /** Through how many entries, {@code count} at most, the sort can pass at once. */
  private int spareFor(int count) {
    if (spare.length < 2 * count && !hasOnlyFew) {
      spare = null;
      try {
        spare = new long[2 * count];
      } catch (OutOfMemoryError full) {
        hasOnlyFew = true;
        spare = new long[2 * MANY];
      }
    }
    return Math.min(count, spare.length / 2);
  }

  private void radix(int from, int end, int depth) {
    int first = from;
    int deeper = depth;
    while (end - first > FEW) {
      if (end - first >= MANY) {
        progress.report();
      }
      long all = -1;
      long any = 0;
      for (int at = 2 * first; at < 2 * end; at += 2) {
        all &= entries[at];
        any |= entries[at];
      }
      if (all != any) {
        scatter(first, end, 64 - Long.numberOfLeadingZeros(all ^ any), deeper);
        return;
      }
      if (order.kind() == KeyOrder.Kind.NUMBER) {
        return;
      }
      if (deeper + Long.BYTES > DEEPEST) {
        merge(first, end);
        return;
      }
      first = endedFirst(first, end, deeper + Long.BYTES);
      deeper += Long.BYTES;
    }
    insert(first, end);
  }

  /**
   * Distributes by the highest {@code FINE_BITS} or {@code COARSE_BITS} of the lowest {@code width}
   * bits.
   */
  private void scatter(int from, int end, int width, int depth) {
    int bits = Math.min(width, end - from >= MANY ? FINE_BITS : COARSE_BITS);
    int shift = width - bits;
    int mask = (1 << bits) - 1;
    int[] next = new int[1 << bits];
    for (int at = 2 * from; at < 2 * end; at += 2) {
      next[(int) (entries[at] >>> shift) & mask]++;
    }
    int[] counts = next.clone();
    int sum = 0;
    for (int bucket = 0; bucket <= mask; bucket++) {
      int one = next[bucket];
      next[bucket] = 2 * sum;
      sum += one;
    }
    for (int at = 2 * from; at < 2 * end; at += 2) {
      int bucket = (int) (entries[at] >>> shift) & mask;
      int to = next[bucket];
      next[bucket] = to + 2;
      spare[to] = entries[at];
      spare[to + 1] = entries[at + 1];
    }
    System.arraycopy(spare, 0, entries, 2 * from, 2 * (end - from));
    int first = from;
    for (int count : counts) {
      if (count > 1) {
        radix(first, first + count, depth);
      }
      first += count;
    }
  }

  /**
   * Of entries with equal keys up to {@code depth} ordered bytes, zeros standing for those that are
   * missing: puts those that are no longer than that to the front, the shorter before the longer,
   * and gives the others the prefix of what follows. Returns the number of the first of the others.
   */
  private int endedFirst(int from, int end, int depth) {
    int first = from;
    boolean sorted = true;
    for (int index = from; index < end; index++) {
      progress.step();
      long entry = entries[2 * index + 1];
      byte[] page = records.page(entry);
      int key = Key.start(page, RecordBuffer.offset(entry));
      int length = Key.length(page, RecordBuffer.offset(entry));
      int content = length - (bytes.contentStart(page, key) - key);
      if (content > depth) {
        entries[2 * index] = bytes.prefix(page, key, length, depth);
        continue;
      }
      entries[2 * index] = entries[2 * first];
      entries[2 * index + 1] = entries[2 * first + 1];
      entries[2 * first] = content;
      entries[2 * first + 1] = entry;
      sorted &= first == from || entries[2 * first - 2] <= content;
      first++;
    }
    if (!sorted) {
      byLength(from, first, depth);
    }
    return first;
  }

  /** Sorts entries whose prefixes are lengths of {@code depth - 8} to {@code depth}. */
  private void byLength(int from, int end, int depth) {
    int[] next = new int[Long.BYTES + 2];
    int least = depth - Long.BYTES;
    for (int index = from; index < end; index++) {
      next[(int) entries[2 * index] - least + 1]++;
    }
    for (int length = 1; length < next.length; length++) {
      next[length] += next[length - 1];
    }
    for (int index = from; index < end; index++) {
      int to = next[(int) entries[2 * index] - least]++;
      spare[2 * to] = entries[2 * index];
      spare[2 * to + 1] = entries[2 * index + 1];
    }
    System.arraycopy(spare, 0, entries, 2 * from, 2 * (end - from));
  }

  private void insert(int from, int end) {
    for (int index = from + 1; index < end; index++) {
      long prefix = entries[2 * index];
      long entry = entries[2 * index + 1];
      int at = index;
      while (at > from && isAfter(entries[2 * at - 2], entries[2 * at - 1], prefix, entry)) {
        entries[2 * at] = entries[2 * at - 2];
        entries[2 * at + 1] = entries[2 * at - 1];
        at--;
      }
      entries[2 * at] = prefix;
      entries[2 * at + 1] = entry;
    }
  }

  /**
   * Sorts by comparing. Prefixes may be of any depth: they are not looked at.
   *
   * <p>First runs whose records the processor's cache holds, as they lie one after the other, then
   * all of them at once: so a record is fetched from memory twice, and not for every comparison.
   */
  private void merge(int from, int end) {
    for (int index = from; index < end; index++) {
      entries[2 * index] = 0;
    }
    for (int run = from; run < end; run += MANY) {
      mergeRun(run, Math.min(end, run + MANY));
    }
    if (end - from > MANY) {
      joinRuns(from, end);
    }
  }

  private void mergeRun(int from, int end) {
    for (int few = from; few < end; few += FEW) {
      if ((few - from) % INSERTED == 0) {
        progress.report();
      }
      compareInsert(few, Math.min(end, few + FEW));
    }
    for (int width = FEW; width < end - from; width *= 2) {
      for (int left = from; left + width < end; left += 2 * width) {
        join(left, left + width, Math.min(end, left + 2 * width));
      }
    }
  }

  /** Merges runs of {@code MANY} entries, by a tree of losers (Knuth, volume 3, 5.4.1). */
  private void joinRuns(int from, int end) {
    int runs = (end - from + MANY - 1) / MANY;
    int[] next = new int[runs];
    long[] heads = new long[runs];
    int[] losers = new int[runs];
    Arrays.fill(losers, NONE);
    int first = NONE;
    for (int run = 0; run < runs; run++) {
      progress.step();
      next[run] = from + run * MANY;
      heads[run] = entries[2 * next[run] + 1];
      int winner = run;
      for (int place = (run + runs) / 2; place > 0 && winner != NONE; place /= 2) {
        int other = losers[place];
        if (other == NONE) {
          losers[place] = winner;
          winner = NONE;
        } else if (isBefore(heads, other, winner)) {
          losers[place] = winner;
          winner = other;
        }
      }
      first = winner == NONE ? first : winner;
    }
    for (int to = 0; to < end - from; to++) {
      if (to % JOINED_OF_MANY == 0) {
        progress.report();
      }
      spare[to] = heads[first];
      int at = ++next[first];
      boolean ended = at == end || (at - from) % MANY == 0;
      heads[first] = ended ? NONE : entries[2 * at + 1];
      for (int place = (first + runs) / 2; place > 0; place /= 2) {
        int other = losers[place];
        if (isBefore(heads, other, first)) {
          losers[place] = first;
          first = other;
        }
      }
    }
    for (int index = from; index < end; index++) {
      entries[2 * index + 1] = spare[index - from];
    }
  }

  /** Whether the head of one run comes before that of another; a run that has ended comes last. */
  private boolean isBefore(long[] heads, int one, int other) {
    if (heads[one] == NONE || heads[other] == NONE) {
      return heads[other] == NONE && heads[one] != NONE;
    }
    int order = compare(heads[one], heads[other]);
    return order < 0 || order == 0 && one < other;
  }

  private void compareInsert(int from, int end) {
    for (int index = from + 1; index < end; index++) {
      long entry = entries[2 * index + 1];
      int at = index;
      while (at > from && compare(entries[2 * at - 1], entry) > 0) {
        entries[2 * at + 1] = entries[2 * at - 1];
        at--;
      }
      entries[2 * at + 1] = entry;
    }
  }

  private void join(int from, int middle, int end) {
    progress.step();
    if (compare(entries[2 * middle - 1], entries[2 * middle + 1]) <= 0) {
      return;
    }
    int held = middle - from;
    for (int index = 0; index < held; index++) {
      spare[index] = entries[2 * (from + index) + 1];
    }
    int left = 0;
    int right = middle;
    int to = from;
    while (left < held && right < end) {
      progress.report();
      int stop = to + JOINED;
      while (left < held && right < end && to < stop) {
        boolean takeLeft = compare(spare[left], entries[2 * right + 1]) <= 0;
        entries[2 * to++ + 1] = takeLeft ? spare[left++] : entries[2 * right++ + 1];
      }
    }
    while (left < held) {
      entries[2 * to++ + 1] = spare[left++];
    }
  }

  private boolean isAfter(long prefix, long entry, long otherPrefix, long other) {
    if (prefix != otherPrefix) {
      return prefix + Long.MIN_VALUE > otherPrefix + Long.MIN_VALUE;
    }
    if (order.kind() == KeyOrder.Kind.NUMBER) {
      return false;
    }
    progress.step();
    return compare(entry, other) > 0;
  }

  private int compare(long one, long other) {
    byte[] page = records.page(one);
    int offset = RecordBuffer.offset(one);
    byte[] otherPage = records.page(other);
    int otherOffset = RecordBuffer.offset(other);
    return comparator.compare(
        page,
        Key.start(page, offset),
        Key.length(page, offset),
        otherPage,
        Key.start(otherPage, otherOffset),
        Key.length(otherPage, otherOffset));
  }

  /** Where the key of a record lies. */
  static final class Key {
    private Key() {}

    static int start(byte[] page, int record) {
      int second = record + SegmentFormat.sizeOf(page[record]);
      return second + SegmentFormat.sizeOf(page[second]);
    }

    static int length(byte[] page, int record) {
      return SegmentFormat.read(page, record);
    }
  }
}
