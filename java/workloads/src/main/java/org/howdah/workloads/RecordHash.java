package org.howdah.workloads;

import java.nio.ByteBuffer;
import org.apache.hadoop.io.BytesWritable;

/**
 * Hashes of records, to be added up: the sum does not change with the order of the records, and
 * changes if one is lost, doubled or damaged, or two swap their values.
 */
final class RecordHash {
  private static final long START = 1;

  private RecordHash() {}

  /** 64 bits of both lengths and all bytes. */
  static long of(BytesWritable key, BytesWritable value) {
    return fold(fold(START, key), value);
  }

  /** 64 bits of a pair of hashes, in this order. */
  static long of(long left, long right) {
    return fold(fold(START, left), right);
  }

  private static long fold(long hash, BytesWritable bytes) {
    ByteBuffer left = ByteBuffer.wrap(bytes.getBytes(), 0, bytes.getLength());
    long found = fold(hash, left.remaining());
    while (left.remaining() >= Long.BYTES) {
      found = fold(found, left.getLong());
    }
    long rest = 0;
    while (left.hasRemaining()) {
      rest = rest << Byte.SIZE | left.get() & 0xff;
    }
    return fold(found, rest);
  }

  /** A bijection of each argument: of two records that differ in one word, the hashes differ. */
  private static long fold(long hash, long word) {
    return RandomBits.mix(hash ^ word);
  }
}
