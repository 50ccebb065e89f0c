package org.howdah.filesystem;

/** Whether bytes came from or went to memory, or a device was waited for. */
final class Speed {
  /**
   * A handover to another thread costs some 20 µs: less than this tells nothing, and gains nothing.
   */
  private static final int SHORT = 32 << 10;

  private static final double NANOSECONDS = 1e9;

  private final double nanosecondsPerByte;

  /**
   * @param bytesPerSecond what the slowest memory reaches and few devices do
   */
  Speed(long bytesPerSecond) {
    nanosecondsPerByte = NANOSECONDS / bytesPerSecond;
  }

  /** Whether a call of so many bytes that waited for so long waited for a device. */
  boolean isSlow(long bytes, long nanoseconds) {
    return bytes >= SHORT && nanoseconds > bytes * nanosecondsPerByte;
  }
}
