package org.howdah.sort;

import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.util.Progressable;

/** The records of a {@link RecordBuffer}, by partition and within it by key. */
final class SortedRecords {
  private final RecordBuffer records;
  private final long[] entries;
  private final int[] starts;

  private SortedRecords(RecordBuffer records, long[] entries, int[] starts) {
    this.records = records;
    this.entries = entries;
    this.starts = starts;
  }

  /** Sorts. {@code records} is then to be cleared, not to be added to. */
  static SortedRecords of(
      RecordBuffer records,
      int partitions,
      KeyOrder order,
      RawComparator<?> comparator,
      Progressable progress) {
    long[] entries = new long[2 * records.count()];
    int[] starts = new int[partitions + 1];
    records.byPartition(entries, starts);
    EntrySort sort = new EntrySort(records, order, comparator, entries, progress);
    for (int partition = 0; partition < partitions; partition++) {
      sort.sort(starts[partition], starts[partition + 1]);
    }
    return new SortedRecords(records, entries, starts);
  }

  boolean isEmpty() {
    return entries.length == 0;
  }

  boolean isEmpty(int partition) {
    return starts[partition] == starts[partition + 1];
  }

  /** Bytes of the records: what they take on disk, uncompressed. */
  long bytes() {
    return records.recordBytes();
  }

  RecordCursor partition(int partition) {
    return new BufferCursor(records, entries, starts[partition], starts[partition + 1]);
  }
}
