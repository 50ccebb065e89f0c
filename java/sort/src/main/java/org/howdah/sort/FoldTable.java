package org.howdah.sort;

/**
 * Finds the record of a {@link RecordBuffer} that has the same key and partition as the one just
 * written.
 */
final class FoldTable {
  // Open addressing, half full at most: a hash and the number of the record's entry, plus one.
  private static final int LEAST = 1 << 10;
  private static final int MOST = 1 << 30;

  private final RecordBuffer records;
  private final Fold fold;
  private long[] slots = new long[LEAST];
  private long[] entries = new long[LEAST];
  private int used;
  // Of the key that was asked for last.
  private long lastHash;
  private boolean isKnown;
  private boolean isFull;

  FoldTable(RecordBuffer records, Fold fold) {
    this.records = records;
    this.fold = fold;
  }

  /** How many keys it finds. */
  int size() {
    return used;
  }

  void clear() {
    slots = new long[LEAST];
    entries = new long[LEAST];
    used = 0;
    isKnown = false;
    isFull = false;
  }

  /**
   * Adds the value of the record just written to the one with its key. False where there is none
   * yet, or one to which it cannot be added: the caller adds the record, and tells of it by {@link
   * #put}.
   */
  boolean fold(int partition) {
    byte[] data = records.data();
    int start = records.keyStart();
    int length = records.keyLength();
    long hash = hash(data, start, length, partition);
    lastHash = hash;
    isKnown = false;
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
        isKnown = true;
        int valueLength = SegmentFormat.read(page, offset + SegmentFormat.sizeOf(page[offset]));
        return fold.add(
            page, key + keyLength, valueLength, data, records.valueStart(), records.valueLength());
      }
    }
    return false;
  }

  /**
   * Notes the entry of the record just added, for which {@link #fold} was asked before. Records of
   * keys that are not noted, for lack of memory, are combined like those of any job.
   */
  void put(long entry) {
    if (isKnown || isFull) {
      return;
    }
    if (used >= slots.length / 2 && !grow()) {
      isFull = true;
      records.fill();
      return;
    }
    place(lastHash, entry + 1);
    used++;
  }

  private boolean grow() {
    long[] hashes = slots;
    long[] held = entries;
    if (hashes.length == MOST) {
      return false;
    }
    try {
      long[] twice = new long[2 * hashes.length];
      entries = new long[2 * hashes.length];
      slots = twice;
    } catch (OutOfMemoryError full) {
      return false;
    }
    for (int slot = 0; slot < held.length; slot++) {
      if (held[slot] != 0) {
        place(hashes[slot], held[slot]);
      }
    }
    return true;
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
