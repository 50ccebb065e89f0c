package org.howdah.sort;

/**
 * The form of records in Hadoop's map output (`IFile`): two lengths as Hadoop's variable-length
 * integers, then the key and the value; two lengths of -1 end a segment.
 */
final class SegmentFormat {
  /** The most bytes that the two lengths of a record take. */
  static final int MOST_HEADER = 10;

  /** The byte that is the length -1. */
  static final byte END = -1;

  private SegmentFormat() {}

  /** How many bytes a length takes. */
  static int size(int length) {
    if (length <= 127) {
      return 1;
    }
    return 1 + (Integer.SIZE + 7 - Integer.numberOfLeadingZeros(length)) / 8;
  }

  /** Writes a length at {@code at}; returns where it ends. */
  static int write(byte[] to, int at, int length) {
    int next = at;
    if (length <= 127) {
      to[next++] = (byte) length;
      return next;
    }
    int bytes = size(length) - 1;
    to[next++] = (byte) (-112 - bytes);
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      to[next++] = (byte) (length >>> shift);
    }
    return next;
  }

  /** How many bytes the length that begins with {@code first} takes. */
  static int sizeOf(byte first) {
    if (first >= -112) {
      return 1;
    }
    return first < -120 ? -119 - first : -111 - first;
  }

  /** The length at {@code at}, which is all there. */
  static int read(byte[] from, int at) {
    byte first = from[at];
    int size = sizeOf(first);
    if (size == 1) {
      return first;
    }
    int value = 0;
    for (int next = at + 1; next < at + size; next++) {
      value = value << 8 | from[next] & 0xFF;
    }
    return first < -120 ? ~value : value;
  }
}
