package org.howdah.sort;

import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.util.Progressable;

/** The records of a {@link RecordBuffer}, by partition and within it by key. */
final class SortedRecords {
  private final RecordBuffer records;
  private final EntrySort sort;

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
    sort = new EntrySort(records, order, comparator, most, progress);
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
   * for.
   */
  RecordCursor partition(int partition) {
    return new BufferCursor(records, sort.sorted(partition), records.count(partition));
  }
}
