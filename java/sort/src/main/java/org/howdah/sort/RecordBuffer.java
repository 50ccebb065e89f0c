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
  // A table that is half full at most has this twice, before it has doubled; then four times.
  private static final int SLOT_BYTES = 2 * Long.BYTES;
  private static final int FOLDING_BYTES = 4 * SLOT_BYTES;
  private static final long MOST_BYTES = Integer.MAX_VALUE - 8;
  private static final int MOST_ENTRIES = (Integer.MAX_VALUE - 8) / 2;

  /** In how many steps, about, the memory grows for which the heap is asked. */
  private static final int STEPS = 32;

  /** What empties the buffer when it is full: must call {@link #clear}. */
  interface Spill {
    void run() throws IOException;
  }

  private final long least;
  private final long most;
  private final Heap heap;
  private final int foldingBytes;
  private final Spill spill;
  private final List<byte[]> pages = new ArrayList<>();
  private final PartitionEntries entries;
  private final DataOutputStream output = new PageOutput(new Bytes());

  // What may be held now; the heap has been asked for what of it is above the least.
  private long limit;
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
  private boolean isFull;
  private long recordBytes;

  /**
   * A buffer for {@code partitions}, of at most {@code bytes}, entries included, and with {@code
   * folding} the table that finds equal keys; a single larger record is taken none the less. {@code
   * spill} runs when there is no room, between two records or within one.
   */
  RecordBuffer(int partitions, long bytes, boolean folding, Spill spill) {
    this(partitions, bytes, bytes, Heap.ANY, folding, spill);
  }

  /**
   * One that grows above {@code least} bytes, and up to {@code most}, only as {@code heap} allows.
   */
  RecordBuffer(int partitions, long least, long most, Heap heap, boolean folding, Spill spill) {
    this.entries = new PartitionEntries(partitions);
    this.least = least;
    this.most = most;
    this.limit = least;
    this.heap = heap;
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

  /** The entries of {@code partition}, as {@link PartitionEntries#take} has them. */
  List<long[]> takeEntries(int partition) {
    return entries.take(partition);
  }

  /** Has the next record find the buffer full: other memory that grows with it is exhausted. */
  void fill() {
    isFull = true;
    hasReserve = false;
  }

  /** Whether it should be emptied now: the mapper needs what it took above the least. */
  boolean isInTheWay() {
    return limit > least && count > 0 && heap.isTight(0);
  }

  /** Whether there is memory to sort all records of the largest partition at once. */
  boolean hasRoomToSort() {
    return limit == least || !heap.isTight(2L * SORTING_BYTES * entries.largest());
  }

  void begin() throws IOException {
    if (!hasReserve) {
      if (isFull || !hasRoomForEntries()) {
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
  long add(long prefix, int partition) throws IOException {
    int valueLength = valueLength();
    int header = SegmentFormat.size(keyLength) + SegmentFormat.size(valueLength);
    if (header != headerGuess) {
      moveTo(recordStart + header);
    }
    SegmentFormat.write(page, SegmentFormat.write(page, recordStart, keyLength), valueLength);
    long entry = entry(partition);
    try {
      if (entries.add(partition, prefix, entry)) {
        hasReserve = false;
      }
    } catch (OutOfMemoryError full) {
      if (count == 0) {
        throw full;
      }
      // The heap is smaller than what the buffer was told.
      emptyAround(0);
      entry = entry(partition);
      entries.add(partition, prefix, entry);
      hasReserve = false;
    }
    count++;
    recordBytes += header + keyLength + valueLength;
    headerGuess = header;
    // Whatever fails next, it is not dropped.
    recordStart = position;
    return entry;
  }

  private long entry(int partition) {
    return (long) partition << ADDRESS_BITS | (long) pageIndex << OFFSET_BITS | recordStart;
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

  /** What of the memory is not taken yet, though records that are there will need it. */
  private long missing() {
    return (long) entries.largest() * SORTING_BYTES + (long) count * (foldingBytes / 2);
  }

  /**
   * Forgets all records; pages stay for the next ones, but for those of single large records, and
   * those that the heap misses.
   */
  void clear() {
    if (limit > least && heap.isTight(0)) {
      limit = least;
    }
    pages.removeIf(one -> one.length > Math.min(LARGEST_PAGE, limit / 2));
    pageBytes = 0;
    for (byte[] one : pages) {
      pageBytes += one.length;
    }
    while (pageBytes > limit) {
      dropPage();
    }
    pageIndex = -1;
    page = new byte[0];
    position = 0;
    recordStart = 0;
    count = 0;
    recordBytes = 0;
    entries.clear();
    hasReserve = true;
    isFull = false;
  }

  private void dropPage() {
    pageBytes -= pages.remove(pages.size() - 1).length;
  }

  /** Forgets all records, and gives the memory back. */
  void release() {
    limit = least;
    clear();
    pages.clear();
    pageBytes = 0;
  }

  private boolean hasRoomForEntries() {
    long wanted = (long) entries.next() * (ENTRY_BYTES + SORTING_BYTES + foldingBytes);
    // Pages that earlier, larger records needed give way.
    while (memory() + wanted > limit && pages.size() > pageIndex + 1) {
      dropPage();
    }
    return mayGrow(wanted) && count + entries.next() <= MOST_ENTRIES;
  }

  /** Whether {@code bytes} more may be held: within the limit, which rises as the heap allows. */
  private boolean mayGrow(long bytes) {
    long wanted = memory() + bytes;
    if (wanted <= limit) {
      return true;
    }
    long raised = Math.min(most, Math.max(wanted, limit + most / STEPS));
    if (wanted > most || !heap.hasRoom(raised - memory() + missing())) {
      return false;
    }
    limit = raised;
    return true;
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
    int key = keyStart - from;
    long wanted = (long) held + bytes + 2 * SegmentFormat.MOST_HEADER;
    // A record that has outgrown a page doubles, so that it is not copied again for each of its
    // bytes.
    long size = held > FIRST_PAGE ? wanted + held : wanted;
    size = wanted <= MOST_BYTES ? Math.min(size, MOST_BYTES) : wanted;
    if (size > MOST_BYTES) {
      throw new IOException("a record of more than " + MOST_BYTES + " bytes is too large to sort");
    }
    if (take((int) size)) {
      place(old, from, held, key);
    } else if (count > 0) {
      emptyAround((int) size);
    } else {
      takeAnew((int) size);
      place(old, from, held, key);
    }
  }

  /**
   * Spills all but the record that is being written, which goes on in {@code size} bytes at least.
   */
  private void emptyAround(int size) throws IOException {
    byte[] unfinished = Arrays.copyOfRange(page, recordStart, position);
    int key = keyStart - recordStart;
    spill.run();
    int needed = Math.max(size, unfinished.length);
    if (!take(needed)) {
      takeAnew(needed);
    }
    place(unfinished, 0, unfinished.length, key);
  }

  private void place(byte[] from, int start, int length, int key) {
    System.arraycopy(from, start, page, 0, length);
    keyStart = key;
    recordStart = 0;
    position = length;
  }

  /** Goes to the next page of at least {@code size} bytes. False where the budget has none. */
  private boolean take(int size) {
    for (int next = pageIndex + 1; next < pages.size(); next++) {
      if (pages.get(next).length >= size) {
        enter(next);
        return true;
      }
    }
    return pages.size() < MOST_PAGES && (add(size, most) || limit < most && add(size, limit));
  }

  /** Takes another page, of which the buffer is within {@code bytes} when it is full. */
  private boolean add(int size, long bytes) {
    // The records of the page will have entries too, about as many per byte as those before.
    double share = pages.isEmpty() ? 0.5 : pageBytes / (double) Math.max(1, memory());
    long left = (long) ((bytes - memory()) * share);
    long usual = Math.min(LARGEST_PAGE, Math.max(FIRST_PAGE, pageBytes));
    long length = Math.max(size, Math.min(usual, left));
    if (length > left || length < Math.min(FIRST_PAGE, bytes / 4)) {
      return false;
    }
    if (limit < bytes && !mayGrow(Math.min(bytes - memory(), (long) (length / share)))) {
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
    // If there is no memory, what comes after the record must not find its pages.
    release();
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

  /** Without the lock that the JDK's class has for every call. */
  private final class PageOutput extends DataOutputStream {
    PageOutput(OutputStream bytes) {
      super(bytes);
    }

    @Override
    public void write(int one) throws IOException {
      out.write(one);
      count(1);
    }

    @Override
    public void write(byte[] from, int start, int length) throws IOException {
      out.write(from, start, length);
      count(length);
    }

    /** For those who ask for {@link #size}. */
    private void count(int bytes) {
      int sum = written + bytes;
      written = sum < 0 ? Integer.MAX_VALUE : sum;
    }

    @Override
    public void flush() {}
  }
}
