package org.howdah.shuffle;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * What arrays take of the heap. G1, the usual collector of a JVM with two processors, gives one of
 * more than half of a region regions of its own: of 640 KiB in a small heap, it has a MiB.
 */
final class Regions {
  private static final int ARRAY_HEADER = 16;

  /** Bytes of a region; 0 where there are none. */
  private final long region;

  Regions(long region) {
    this.region = region;
  }

  static Regions ofThisHeap() {
    try {
      HotSpotDiagnosticMXBean options =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      boolean isG1 = options != null && Boolean.parseBoolean(value(options, "UseG1GC"));
      return new Regions(isG1 ? Long.parseLong(value(options, "G1HeapRegionSize")) : 0);
    } catch (IllegalArgumentException another) {
      // A JVM without this collector, or of another make, does not know its options.
      return new Regions(0);
    }
  }

  private static String value(HotSpotDiagnosticMXBean options, String name) {
    return options.getVMOption(name).getValue();
  }

  /** What an array of {@code bytes} takes. */
  long taken(long bytes) {
    long array = bytes + ARRAY_HEADER;
    return array <= region / 2 || region == 0 ? bytes : (array + region - 1) / region * region;
  }
}
