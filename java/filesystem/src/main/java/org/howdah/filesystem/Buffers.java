package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Buffers outside of the heap, used again: making one costs more than filling it. */
final class Buffers {
  /** Of each size; what is above is left to the garbage collector. */
  private static final int KEPT = 32;

  private static final ConcurrentMap<Integer, Buffers> SIZES = new ConcurrentHashMap<>();

  private final int size;
  private final ConcurrentLinkedDeque<ByteBuffer> free = new ConcurrentLinkedDeque<>();
  private final AtomicInteger count = new AtomicInteger();

  private Buffers(int size) {
    this.size = size;
  }

  static Buffers of(int size) {
    return SIZES.computeIfAbsent(size, Buffers::new);
  }

  /**
   * Bytes from this offset of a file up to the next multiple of a size, as stripes and blocks end.
   */
  static int untilBoundary(long offset, int size) {
    return size - (int) (offset % size);
  }

  /**
   * An empty buffer of this size.
   *
   * @throws IOException if the JVM may not take so much memory outside of its heap
   */
  ByteBuffer take() throws IOException {
    ByteBuffer buffer = free.pollFirst();
    if (buffer == null) {
      try {
        return ByteBuffer.allocateDirect(size);
      } catch (OutOfMemoryError full) {
        throw new Refusal(
            "there is no room for a buffer of "
                + size
                + " bytes outside of the heap; smaller buffers (the key buffer.size), fewer open"
                + " files, or a larger -XX:MaxDirectMemorySize help: "
                + full.getMessage(),
            full);
      }
    }
    count.decrementAndGet();
    buffer.clear();
    return buffer;
  }

  /**
   * Back to those of its size. The caller must not use the buffer afterwards, nor give it twice.
   */
  static void give(ByteBuffer buffer) {
    of(buffer.capacity()).keep(buffer);
  }

  private void keep(ByteBuffer buffer) {
    if (count.incrementAndGet() <= KEPT) {
      free.addFirst(buffer);
    } else {
      count.decrementAndGet();
    }
  }
}
