package org.howdah.sort;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The heap of this process. What is free there is known only after a collection: until then,
 * garbage counts as used. Where there seems to be no room, the next collection is near anyway; so
 * it is done at once, as long as such collections take no more than a small share of the time.
 */
final class TaskHeap implements Heap {
  // A collection is not followed by another for so many times as long as it took: where there is
  // hardly any memory left, the JVM would wait less.
  private static final int PAUSE = 50;
  private static final int SHORT_PAUSE = 10;

  private static final int MARGIN_SHARE = 8;

  /** What is known of a heap. */
  interface Gauge {
    /** Bytes that can be taken, as far as is known without a collection. */
    long free();

    /** Bytes that were free after the last collection of all that lives long. */
    long freeAfterCollection();

    void collect();
  }

  private final Gauge gauge;
  private final long margin;
  private final LongSupplier nanos;
  private final long began;
  private long collected;
  private long duration;
  private long nextTry;

  TaskHeap() {
    this(new Pools(), Runtime.getRuntime().maxMemory(), System::nanoTime);
  }

  /** A heap of {@code size} bytes. */
  TaskHeap(Gauge gauge, long size, LongSupplier nanos) {
    this.gauge = gauge;
    this.margin = size / MARGIN_SHARE;
    this.nanos = nanos;
    this.began = nanos.getAsLong();
    this.collected = began;
    this.nextTry = began;
  }

  @Override
  public boolean hasRoom(long bytes) {
    if (gauge.free() >= bytes + margin) {
      return true;
    }
    if (nanos.getAsLong() - nextTry < 0 || !collect(PAUSE)) {
      return false;
    }
    if (gauge.free() >= bytes + margin) {
      return true;
    }
    // A mapper that holds much will hold it for long.
    long now = nanos.getAsLong();
    nextTry = now + (now - began);
    return false;
  }

  @Override
  public boolean isTight(long bytes) {
    long least = margin / 2 + bytes;
    if (gauge.free() >= least) {
      return false;
    }
    return collect(SHORT_PAUSE) ? gauge.free() < least : gauge.freeAfterCollection() < least;
  }

  /** False where the last time is less than {@code pause} times its duration ago. */
  private boolean collect(int pause) {
    long before = nanos.getAsLong();
    if (before - collected < pause * duration) {
      return false;
    }
    gauge.collect();
    collected = nanos.getAsLong();
    duration = collected - before;
    return true;
  }

  /** What the JVM's own counts say. */
  private static final class Pools implements Gauge {
    private final Runtime heap = Runtime.getRuntime();
    // Of the pools of HotSpot, only the one of what lives long knows a threshold.
    private final List<MemoryPoolMXBean> longLived = new ArrayList<>();
    private final long reserve;

    Pools() {
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        if (pool.getType() == MemoryType.HEAP && pool.isUsageThresholdSupported()) {
          longLived.add(pool);
        }
      }
      // Where all of the heap may become old, a collection needs free memory to move things to: G1
      // keeps a tenth for that (G1ReservePercent).
      boolean isAll = isOne() && longLived.get(0).getUsage().getMax() >= heap.maxMemory();
      reserve = isAll ? heap.maxMemory() / 10 : 0;
    }

    private boolean isOne() {
      return longLived.size() == 1;
    }

    @Override
    public long free() {
      long free = heap.maxMemory() - heap.totalMemory() + heap.freeMemory() - reserve;
      return isOne() ? Math.min(free, free(longLived.get(0).getUsage())) : free;
    }

    @Override
    public long freeAfterCollection() {
      return isOne() ? free(longLived.get(0).getCollectionUsage()) : Long.MAX_VALUE;
    }

    private long free(MemoryUsage usage) {
      boolean isKnown = usage != null && usage.getMax() >= 0;
      return isKnown ? usage.getMax() - usage.getUsed() - reserve : Long.MAX_VALUE;
    }

    @Override
    public void collect() {
      System.gc();
    }
  }
}
