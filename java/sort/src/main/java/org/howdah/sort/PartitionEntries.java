package org.howdah.sort;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The entries of a {@link RecordBuffer}, by partition, each in the order in which they came: two
 * longs, the prefix of the key and where the record lies.
 *
 * <p>Those of a partition lie in blocks, of which each is as large as all before it, up to a limit.
 * So partitions are sorted one after the other in one array that is as large as the largest of
 * them.
 */
final class PartitionEntries {
  // With its header, a block of 512 KiB would be a giant for collectors with regions of 1 MiB.
  private static final int LARGEST_BLOCK = (1 << 15) - 8;

  private static final int FIRST = 1 << 3;

  private final long[][] current;
  private final int[] filled;
  private final int[] counts;
  private final List<List<long[]>> full;
  private long allocated;
  private int next = FIRST;
  private int largest;

  PartitionEntries(int partitions) {
    current = new long[partitions][];
    filled = new int[partitions];
    counts = new int[partitions];
    full = new ArrayList<>(Collections.nCopies(partitions, null));
  }

  /** Adds an entry. True if that took another block. */
  boolean add(int partition, long prefix, long address) {
    long[] block = current[partition];
    int at = filled[partition];
    boolean isFull = block == null || at == block.length;
    if (isFull) {
      block = nextBlock(partition);
      at = 0;
    }
    block[at] = prefix;
    block[at + 1] = address;
    filled[partition] = at + 2;
    largest = Math.max(largest, ++counts[partition]);
    return isFull;
  }

  private long[] nextBlock(int partition) {
    int size = Math.max(FIRST, Math.min(LARGEST_BLOCK, counts[partition]));
    long[] block = new long[2 * size];
    if (current[partition] != null) {
      if (full.get(partition) == null) {
        full.set(partition, new ArrayList<>());
      }
      full.get(partition).add(current[partition]);
    }
    current[partition] = block;
    allocated += size;
    next = Math.max(next, Math.min(LARGEST_BLOCK, 2 * size));
    return block;
  }

  int count(int partition) {
    return counts[partition];
  }

  /** Entries of the partition that has most. */
  int largest() {
    return largest;
  }

  /** Entries for which there is memory. */
  long allocated() {
    return allocated;
  }

  /** Entries of the largest block that the next record can take. */
  int next() {
    return next;
  }

  /**
   * The blocks of a partition, which forgets them. All are full but the last, of which {@link
   * #count} tells how much is.
   */
  List<long[]> take(int partition) {
    List<long[]> blocks = full.set(partition, null);
    if (blocks == null) {
      blocks = new ArrayList<>();
    }
    if (current[partition] != null) {
      blocks.add(current[partition]);
      current[partition] = null;
    }
    filled[partition] = 0;
    return blocks;
  }

  void clear() {
    Arrays.fill(current, null);
    Arrays.fill(filled, 0);
    Arrays.fill(counts, 0);
    Collections.fill(full, null);
    allocated = 0;
    next = FIRST;
    largest = 0;
  }
}
