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
