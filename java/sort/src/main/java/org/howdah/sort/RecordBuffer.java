package org.howdah.sort;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The records that a map has written and that are not on disk yet, in the form that a file of map
 * output has: length of key, length of value, key, value, without a gap.
 *
 * <p>They lie in pages that are taken as they are needed. Each record has an entry of two longs:
 * the prefix of its key, and its partition with its address (page and offset). A record that is
 * larger than a page has one of its own.
 */
final class RecordBuffer {
  private static final int OFFSET_BITS = 26;
  private static final int OFFSET_MASK = (1 << OFFSET_BITS) - 1;
  private static final int ADDRESS_BITS = 40;
  private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;

  /** The most partitions: more would fit beside an address, but their tables take memory, too. */
  static final int MOST_PARTITIONS = 1 << 20;

  private static final int FIRST_PAGE = 1 << 20;
  private static final int LARGEST_PAGE = 1 << OFFSET_BITS;
  private static final int MOST_PAGES = 1 << (ADDRESS_BITS - OFFSET_BITS);
  private static final int ENTRY_BYTES = 2 * Long.BYTES;
  // The array in which a partition is sorted. Its entries pass through another one there, for which
  // their first place has been given back.
  private static final int SORTING_BYTES = ENTRY_BYTES;
  private static final int FOLDING_BYTES = 4 * ENTRY_BYTES;
  private static final long MOST_BYTES = Integer.MAX_VALUE - 8;
  private static final int MOST_ENTRIES = (Integer.MAX_VALUE - 8) / 2;

  /** What empties the buffer when it is full: must call {@link #clear}. */
  interface Spill {
    void run() throws IOException;
  }

  private final long budget;
  private final int foldingBytes;
  private final Spill spill;
  private final List<byte[]> pages = new ArrayList<>();
  private final PartitionEntries entries;
  private final DataOutputStream output = new PageOutput(new Bytes());

  private long pageBytes;
  private int pageIndex = -1;
  private byte[] page = new byte[0];
  private int position;
  private int recordStart;
  private int keyStart;
  private int keyLength;
  private int headerGuess = 2;
  private int count;
  private boolean hasReserve = true;
  private long recordBytes;

  /**
   * A buffer for {@code partitions}, of at most {@code budget} bytes, entries included, and with
   * {@code folding} the table that finds equal keys; a single larger record is taken none the less.
   * {@code spill} runs when there is no room, between two records or within one.
   */
  RecordBuffer(int partitions, long budget, boolean folding, Spill spill) {
    this.entries = new PartitionEntries(partitions);
    this.budget = budget;
    this.foldingBytes = folding ? FOLDING_BYTES : 0;
    this.spill = spill;
  }

  /** Where serializers write a record's key and, after {@link #keyDone}, its value. */
  DataOutputStream output() {
    return output;
  }

  int count() {
    return count;
  }

  /** Bytes of all records, with their lengths. */
  long recordBytes() {
    return recordBytes;
  }

  byte[] page(long entry) {
    return pages.get((int) ((entry & ADDRESS_MASK) >>> OFFSET_BITS));
  }

  static int offset(long entry) {
    return (int) entry & OFFSET_MASK;
  }

  static int partition(long entry) {
    return (int) (entry >>> ADDRESS_BITS);
  }

  /** How many records of {@code partition} there are. */
  int count(int partition) {
    return entries.count(partition);
  }

  /**
   * Moves the entries of {@code partition} to the beginning of {@code to}, from where they count.
   */
  void move(int partition, long[] to) {
    entries.move(partition, to);
  }

  void begin() throws IOException {
    if (!hasReserve) {
      if (!hasRoomForEntries()) {
        spill.run();
      }
      hasReserve = true;
    }
    recordStart = position;
    keyStart = position;
    if (position < LARGEST_PAGE) {
      room(SegmentFormat.MOST_HEADER);
    } else {
      nextPage(SegmentFormat.MOST_HEADER);
    }
    position += headerGuess;
    keyStart = position;
  }

  void keyDone() {
    keyLength = position - keyStart;
  }

  /** The bytes of the key and value of the record that was written last. */
  int length() {
    return position - keyStart;
  }

  byte[] data() {
    return page;
  }

  int keyStart() {
    return keyStart;
  }

  int keyLength() {
    return keyLength;
  }

  int valueStart() {
    return keyStart + keyLength;
  }

  int valueLength() {
    return position - keyStart - keyLength;
  }

  /** Forgets the record that has been written and not added. */
  void drop() {
    position = recordStart;
  }

  /** Adds the record that has been written. Returns its entry. */
  long add(long prefix, int partition) {
    int valueLength = valueLength();
    int header = SegmentFormat.size(keyLength) + SegmentFormat.size(valueLength);
    if (header != headerGuess) {
      moveTo(recordStart + header);
    }
    SegmentFormat.write(page, SegmentFormat.write(page, recordStart, keyLength), valueLength);
    long entry = (long) partition << ADDRESS_BITS | (long) pageIndex << OFFSET_BITS | recordStart;
    if (entries.add(partition, prefix, entry)) {
      hasReserve = false;
    }
    count++;
    recordBytes += header + keyLength + valueLength;
    headerGuess = header;
    return entry;
  }

  private void moveTo(int start) {
    int length = length();
    System.arraycopy(page, keyStart, page, start, length);
    keyStart = start;
    position = start + length;
  }

  /** Bytes of pages and entries, as they count against the budget. */
  long memory() {
    return pageBytes
        + entries.allocated() * ENTRY_BYTES
        + (long) entries.largest() * SORTING_BYTES
        + (long) count * foldingBytes;
  }

  /** Forgets all records; pages stay for the next ones, but for those of single large records. */
  void clear() {
    pages.removeIf(one -> one.length > Math.min(LARGEST_PAGE, budget / 2));
    pageBytes = 0;
    for (byte[] one : pages) {
      pageBytes += one.length;
    }
    pageIndex = -1;
    page = new byte[0];
    position = 0;
    recordStart = 0;
    count = 0;
    recordBytes = 0;
    entries.clear();
    hasReserve = true;
  }

  /** Gives the memory back. Nothing may be written afterwards. */
  void release() {
    clear();
    pages.clear();
  }

  private boolean hasRoomForEntries() {
    long wanted = (long) entries.next() * (ENTRY_BYTES + SORTING_BYTES + foldingBytes);
    // Pages that earlier, larger records needed give way.
    while (memory() + wanted > budget && pages.size() > pageIndex + 1) {
      pageBytes -= pages.remove(pages.size() - 1).length;
    }
    return memory() + wanted <= budget && count + entries.next() <= MOST_ENTRIES;
  }

  /**
   * Makes room for {@code bytes} more and a header; takes what there is of an unfinished record
   * along.
   */
  private void room(int bytes) throws IOException {
    if (page.length - position < (long) bytes + SegmentFormat.MOST_HEADER) {
      nextPage(bytes);
    }
  }

  private void nextPage(int bytes) throws IOException {
    int from = recordStart;
    int held = position - from;
    byte[] old = page;
    long wanted = (long) held + bytes + 2 * SegmentFormat.MOST_HEADER;
    // A record that has outgrown a page doubles, so that it is not copied again for each of its
    // bytes.
    long size = held > FIRST_PAGE ? wanted + held : wanted;
    size = wanted <= MOST_BYTES ? Math.min(size, MOST_BYTES) : wanted;
    if (size > MOST_BYTES) {
      throw new IOException("a record of more than " + MOST_BYTES + " bytes is too large to sort");
    }
    if (!take((int) size)) {
      if (count > 0) {
        byte[] unfinished = Arrays.copyOfRange(old, from, from + held);
        int keyOffset = keyStart - from;
        spill.run();
        old = unfinished;
        from = 0;
        keyStart = keyOffset;
        if (!take((int) size)) {
          takeAnew((int) size);
        }
      } else {
        takeAnew((int) size);
      }
    }
    System.arraycopy(old, from, page, 0, held);
    keyStart -= from;
    recordStart = 0;
    position = held;
  }

  /** Goes to the next page of at least {@code size} bytes. False where the budget has none. */
  private boolean take(int size) {
    for (int next = pageIndex + 1; next < pages.size(); next++) {
      if (pages.get(next).length >= size) {
        enter(next);
        return true;
      }
    }
    // The records of the page will have entries too, about as many per byte as those before.
    long left = (long) ((budget - memory()) * (pageBytes / (double) Math.max(1, memory())));
    if (pages.isEmpty()) {
      left = budget / 2;
    }
    long usual = Math.min(LARGEST_PAGE, Math.max(FIRST_PAGE, pageBytes));
    long length = Math.max(size, Math.min(usual, left));
    if (length > left || length < Math.min(FIRST_PAGE, budget / 4) || pages.size() == MOST_PAGES) {
      return false;
    }
    try {
      pages.add(new byte[(int) length]);
    } catch (OutOfMemoryError full) {
      // The heap is smaller than the budget: what there is must do.
      return false;
    }
    pageBytes += length;
    enter(pages.size() - 1);
    return true;
  }

  /**
   * The only page from here on, of {@code size} bytes: for a record that the budget has no room
   * for.
   */
  private void takeAnew(int size) {
    pages.clear();
    pages.add(new byte[size]);
    pageBytes = size;
    enter(0);
  }

  private void enter(int index) {
    pageIndex = index;
    page = pages.get(index);
  }

  private final class Bytes extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      room(1);
      page[position++] = (byte) one;
    }

    @Override
    public void write(byte[] from, int start, int length) throws IOException {
      room(length);
      System.arraycopy(from, start, page, position, length);
      position += length;
    }
  }

  /** Without the lock and the count that the JDK's class has for every call. */
  private final class PageOutput extends DataOutputStream {
    PageOutput(OutputStream bytes) {
      super(bytes);
    }

    @Override
    public void write(int one) throws IOException {
      out.write(one);
    }

    @Override
    public void write(byte[] from, int start, int length) throws IOException {
      out.write(from, start, length);
    }

    @Override
    public void flush() {}
  }
}
