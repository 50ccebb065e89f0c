package org.howdah.filesystem;

/** Whether bytes came from or went to memory, or a device was waited for. */
final class Speed {
  /**
   * A handover to another thread costs some 20 µs: less than this tells nothing, and gains nothing.
   */
  private static final int SHORT = 32 << 10;

  private Speed() {}

  /**
   * Slower than 1 GB/s, one byte a nanosecond: memory is several times as fast, and few devices are
   * faster.
   */
  static boolean isSlow(long bytes, long nanoseconds) {
    return bytes >= SHORT && nanoseconds > bytes;
  }
}
