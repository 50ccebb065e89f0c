package org.howdah.sort;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.util.Progressable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The records of a {@link RecordBuffer}, by partition and within it by key. */
final class SortedRecords {
  private static final Logger LOG = LoggerFactory.getLogger(SortedRecords.class);

  private final RecordBuffer records;
  private final EntrySort sort;
  // For the entries of one partition after another; null where there is no memory for it.
  private long[] entries;

  /** {@code records} is then to be cleared, not to be added to. */
  SortedRecords(
      RecordBuffer records,
      int partitions,
      KeyOrder order,
      RawComparator<?> comparator,
      Progressable progress) {
    this.records = records;
    int most = 0;
    for (int partition = 0; partition < partitions; partition++) {
      most = Math.max(most, records.count(partition));
    }
    entries = records.hasRoomToSort() ? allocated(most) : null;
    if (entries == null) {
      LOG.info("No memory to sort {} records at once: they are sorted in runs", most);
    }
    sort = new EntrySort(records, order, comparator, progress);
  }

  private static long[] allocated(int most) {
    try {
      return new long[2 * most];
    } catch (OutOfMemoryError full) {
      return null;
    }
  }

  boolean isEmpty() {
    return records.count() == 0;
  }

  boolean isEmpty(int partition) {
    return records.count(partition) == 0;
  }

  /** Bytes of the records: what they take on disk, uncompressed. */
  long bytes() {
    return records.recordBytes();
  }

  /**
   * Sorts a partition, which is asked for once. Its records are there until another one is asked
   * for: in one run, none if it is empty, or in several that are to be merged, where there is no
   * memory to sort them all at once.
   */
  List<RecordCursor> partition(int partition) {
    List<RecordCursor> runs = new ArrayList<>(1);
    int count = records.count(partition);
    List<long[]> blocks = records.takeEntries(partition);
    if (entries == null) {
      for (long[] block : blocks) {
        add(runs, block, Math.min(count, block.length / 2));
        count -= block.length / 2;
      }
      requireAll(count <= 0);
      return runs;
    }
    int at = 0;
    for (long[] block : blocks) {
      int some = Math.min(block.length, 2 * count - at);
      System.arraycopy(block, 0, entries, at, some);
      at += some;
    }
    requireAll(at == 2 * count);
    // The memory of the blocks is what the sort passes entries through.
    blocks.clear();
    add(runs, entries, count);
    return runs;
  }

  /** A partition is asked for twice only by mistake, and then has nothing but its count. */
  private static void requireAll(boolean areThere) {
    if (!areThere) {
      throw new IllegalStateException("records of a partition are gone");
    }
  }

  private void add(List<RecordCursor> runs, long[] some, int count) {
    int run = sort.sort(some, count);
    for (int from = 0; from < count; from += run) {
      runs.add(new BufferCursor(records, some, from, Math.min(count, from + run)));
    }
  }
}
