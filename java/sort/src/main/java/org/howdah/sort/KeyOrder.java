package org.howdah.sort;

/**
 * What is known about the order of serialized keys, beside the comparator that decides it.
 *
 * <p>Every order gives a prefix: of two keys, the one with the smaller prefix (unsigned) comes
 * first; the comparator decides between equal prefixes. An order of {@link Kind#BYTES} also gives
 * the prefix of what follows, so that keys with a long common beginning need no comparator either.
 */
public abstract class KeyOrder {
  /** How much a prefix says. */
  public enum Kind {
    /** Nothing: the prefix is the same for every key. */
    UNKNOWN,
    /** Keys with equal prefixes are equal. */
    NUMBER,
    /**
     * Keys are ordered by their bytes, unsigned, a shorter key before a longer one that begins with
     * it.
     */
    BYTES
  }

  /** The order of which nothing is known. */
  public static final KeyOrder UNKNOWN =
      new KeyOrder(Kind.UNKNOWN) {
        @Override
        public long prefix(byte[] data, int start, int length) {
          return 0;
        }
      };

  private final Kind kind;

  /** An order of {@link Kind#BYTES} has to be a {@link Bytes}, which the sort asks for more. */
  protected KeyOrder(Kind kind) {
    if (kind == null || kind == Kind.BYTES && !(this instanceof Bytes)) {
      throw new IllegalArgumentException(getClass().getName() + " is no order of kind " + kind);
    }
    this.kind = kind;
  }

  public final Kind kind() {
    return kind;
  }

  /** The prefix of the key of {@code length} bytes at {@code start}. Called for every record. */
  public abstract long prefix(byte[] data, int start, int length);

  /** An order by the bytes of the key, from the one that {@link #contentStart} names. */
  public abstract static class Bytes extends KeyOrder {
    protected Bytes() {
      super(Kind.BYTES);
    }

    /** Where the ordered bytes of the key at {@code start} begin: after a length, mostly. */
    public abstract int contentStart(byte[] data, int start);

    @Override
    public final long prefix(byte[] data, int start, int length) {
      int content = contentStart(data, start);
      return bytes(data, content, start + length);
    }

    /** The prefix of what follows the first {@code depth} ordered bytes. */
    final long prefix(byte[] data, int start, int length, int depth) {
      return bytes(data, contentStart(data, start) + depth, start + length);
    }

    private static long bytes(byte[] data, int from, int end) {
      if (end - from >= Long.BYTES) {
        return (long) data[from] << 56
            | (data[from + 1] & 0xFFL) << 48
            | (data[from + 2] & 0xFFL) << 40
            | (data[from + 3] & 0xFFL) << 32
            | (data[from + 4] & 0xFFL) << 24
            | (data[from + 5] & 0xFFL) << 16
            | (data[from + 6] & 0xFFL) << 8
            | data[from + 7] & 0xFFL;
      }
      long prefix = 0;
      int shift = 56;
      for (int at = from; at < end; at++) {
        prefix |= (data[at] & 0xFFL) << shift;
        shift -= 8;
      }
      return prefix;
    }
  }
}
