package org.howdah.filesystem;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.apache.hadoop.util.PureJavaCrc32C;

/**
 * CRC-32C, by the JVM's own class where there is one (Java 9 and newer), which also takes bytes
 * outside of the heap.
 */
final class Crc {
  private static final int CASTAGNOLI = 0x82F63B78;
  private static final int ONE = 1 << 31;

  /** x^8. */
  private static final int BYTE = 1 << 23;

  private static final MethodHandle MAKE;
  private static final MethodHandle UPDATE;

  static {
    MethodHandle make = null;
    MethodHandle update = null;
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      make =
          lookup
              .findConstructor(
                  Class.forName("java.util.zip.CRC32C"), MethodType.methodType(void.class))
              .asType(MethodType.methodType(Checksum.class));
      update =
          lookup.findVirtual(
              Checksum.class, "update", MethodType.methodType(void.class, ByteBuffer.class));
    } catch (ReflectiveOperationException java8) {
      // Both stay null together: the class and the method came with the same release.
    }
    MAKE = make;
    UPDATE = update;
  }

  private final Checksum sum = make();
  private final byte[] copied = UPDATE == null ? new byte[8192] : null;

  void update(byte[] bytes, int offset, int length) {
    sum.update(bytes, offset, length);
  }

  /** Takes all that remains in the buffer, whose position does not change. */
  void update(ByteBuffer bytes) {
    ByteBuffer all = bytes.duplicate();
    if (UPDATE == null) {
      while (all.hasRemaining()) {
        int length = Math.min(all.remaining(), copied.length);
        all.get(copied, 0, length);
        sum.update(copied, 0, length);
      }
      return;
    }
    try {
      UPDATE.invokeExact(sum, all);
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** The value so far; starts anew. */
  int take() {
    int value = (int) sum.getValue();
    sum.reset();
    return value;
  }

  /**
   * The value of two pieces of bytes, one after the other, from the values of each: the first times
   * x^(8 · length) modulo the polynomial, plus the second. Hadoop has this too ({@code CrcUtil}),
   * but not with the same signature in 3.4 and 3.5.
   *
   * @param length bytes of the second piece
   */
  static int joined(int first, int second, long length) {
    int power = ONE;
    int square = BYTE;
    for (long left = length; left > 0; left >>>= 1) {
      if ((left & 1) != 0) {
        power = times(power, square);
      }
      square = times(square, square);
    }
    return times(power, first) ^ second;
  }

  /** Of two polynomials, modulo that of CRC-32C; the highest bit is the coefficient of 1. */
  private static int times(int one, int other) {
    int product = 0;
    int shifted = other;
    for (int bit = ONE; bit != 0; bit >>>= 1) {
      if ((one & bit) != 0) {
        product ^= shifted;
      }
      shifted = shifted >>> 1 ^ ((shifted & 1) != 0 ? CASTAGNOLI : 0);
    }
    return product;
  }

  private static Checksum make() {
    if (MAKE == null) {
      return new PureJavaCrc32C();
    }
    try {
      return (Checksum) MAKE.invokeExact();
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
