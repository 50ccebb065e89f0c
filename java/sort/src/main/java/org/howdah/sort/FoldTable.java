package org.howdah.sort;

/**
 * Finds the record of a {@link RecordBuffer} that has the same key and partition as the one just
 * written.
 */
final class FoldTable {
  // Open addressing, half full at most: a hash and the number of the record's entry, plus one.
  private static final int LEAST = 1 << 10;

  private final RecordBuffer records;
  private final Fold fold;
  private long[] slots = new long[LEAST];
  private long[] entries = new long[LEAST];
  private int used;

  FoldTable(RecordBuffer records, Fold fold) {
    this.records = records;
    this.fold = fold;
  }

  void clear() {
    slots = new long[LEAST];
    entries = new long[LEAST];
    used = 0;
  }

  /**
   * Adds the value of the record just written to the one with its key. False where there is none
   * yet: the caller adds the record, and tells of it by {@link #put}.
   */
  boolean fold(int partition) {
    byte[] data = records.data();
    int start = records.keyStart();
    int length = records.keyLength();
    long hash = hash(data, start, length, partition);
    int mask = slots.length - 1;
    for (int slot = (int) hash & mask; entries[slot] != 0; slot = slot + 1 & mask) {
      if (slots[slot] != hash) {
        continue;
      }
      long entry = entries[slot] - 1;
      byte[] page = records.page(entry);
      int offset = RecordBuffer.offset(entry);
      int key = EntrySort.Key.start(page, offset);
      int keyLength = EntrySort.Key.length(page, offset);
      if (RecordBuffer.partition(entry) == partition
          && same(page, key, keyLength, data, start, length)) {
        int valueLength = SegmentFormat.read(page, offset + SegmentFormat.sizeOf(page[offset]));
        return fold.add(
            page, key + keyLength, valueLength, data, records.valueStart(), records.valueLength());
      }
    }
    return false;
  }

  /** Notes the entry of the record just added; its key is still where it was written. */
  void put(long entry, int partition) {
    if (2 * (used + 1) > slots.length) {
      grow();
    }
    place(hash(records.data(), records.keyStart(), records.keyLength(), partition), entry + 1);
    used++;
  }

  private void grow() {
    long[] hashes = slots;
    long[] held = entries;
    slots = new long[2 * hashes.length];
    entries = new long[slots.length];
    for (int slot = 0; slot < held.length; slot++) {
      if (held[slot] != 0) {
        place(hashes[slot], held[slot]);
      }
    }
  }

  private void place(long hash, long entry) {
    int mask = slots.length - 1;
    int slot = (int) hash & mask;
    while (entries[slot] != 0) {
      slot = slot + 1 & mask;
    }
    slots[slot] = hash;
    entries[slot] = entry;
  }

  private static boolean same(
      byte[] one, int start, int length, byte[] other, int otherStart, int otherLength) {
    if (length != otherLength) {
      return false;
    }
    for (int at = 0; at < length; at++) {
      if (one[start + at] != other[otherStart + at]) {
        return false;
      }
    }
    return true;
  }

  /** FNV-1a with a final mix (Murmur3's), so that the low bits depend on all. */
  private static long hash(byte[] data, int start, int length, int partition) {
    long hash = 0xcbf29ce484222325L ^ partition;
    for (int at = start; at < start + length; at++) {
      hash = (hash ^ data[at]) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    return hash ^ hash >>> 33;
  }
}
