package org.howdah.sort;

/** The sorted records of one partition of a {@link RecordBuffer}. */
final class BufferCursor extends RecordCursor {
  // As many cache misses as a processor has under way at once, about.
  private static final int AHEAD = 16;

  private final RecordBuffer records;
  private final long[] entries;
  private final int end;
  private int index;
  private int touched;

  // Written only: without it the compiler would drop the reads of touch().
  private int sum;

  /** The records of {@code entries} from number {@code from} to {@code end}. */
  BufferCursor(RecordBuffer records, long[] entries, int from, int end) {
    this.records = records;
    this.entries = entries;
    this.end = end;
    this.index = from;
    this.touched = from;
  }

  @Override
  public boolean next() {
    if (index == end) {
      return false;
    }
    if (index == touched) {
      touch();
    }
    long entry = entries[2 * index++ + 1];
    data = records.page(entry);
    start = RecordBuffer.offset(entry);
    keyLength = SegmentFormat.read(data, start);
    int second = start + SegmentFormat.sizeOf(data[start]);
    valueLength = SegmentFormat.read(data, second);
    keyStart = second + SegmentFormat.sizeOf(data[second]);
    return true;
  }

  /**
   * Reads a byte of each of the next records. They lie anywhere in memory: asked for one after
   * another, each would be waited for; asked for at once, their ways through the caches overlap.
   */
  private void touch() {
    int last = Math.min(end, touched + AHEAD);
    for (int next = touched; next < last; next++) {
      long entry = entries[2 * next + 1];
      sum += records.page(entry)[RecordBuffer.offset(entry)];
    }
    touched = last;
  }
}
