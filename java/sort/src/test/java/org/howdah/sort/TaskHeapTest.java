package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TaskHeapTest {
  /** A heap of 1600 bytes, of which a collection frees what is garbage in a hundred nanoseconds. */
  private static final class Small implements TaskHeap.Gauge {
    private long live;
    private long garbage;
    private long liveBefore;
    private int collections;
    private long nanos;

    @Override
    public long free() {
      return 1600 - live - garbage;
    }

    @Override
    public long freeAfterCollection() {
      return 1600 - liveBefore;
    }

    @Override
    public void collect() {
      garbage = 0;
      liveBefore = live;
      collections++;
      nanos += 100;
    }

    long nanos() {
      return nanos;
    }
  }

  private final Small gauge = new Small();
  private final TaskHeap heap = new TaskHeap(gauge, 1600, gauge::nanos);

  // Promise (how-to/accelerate): An eighth of a map's heap stays free
  @Test
  void anEighthStaysFree() {
    gauge.live = 1000;
    assertThat(heap.hasRoom(400)).isTrue();
    assertThat(gauge.collections).isZero();
    assertThat(heap.hasRoom(401)).isFalse();
  }

  @Test
  void garbageIsRoom() {
    gauge.live = 400;
    gauge.garbage = 1150;
    assertThat(heap.hasRoom(1000)).isTrue();
    assertThat(gauge.collections).isEqualTo(1);
  }

  // Promise (how-to/accelerate): The sort asks for garbage collections in a fiftieth of the map's
  // time at most
  @Test
  void collectionsTakeAFiftiethOfTheTimeAtMost() {
    gauge.nanos = 1_000_000;
    for (int time = 0; time < 1000; time++) {
      gauge.live = 400;
      gauge.garbage = 1150;
      heap.hasRoom(1000);
      gauge.nanos += 50;
    }
    assertThat(gauge.collections).isBetween(8, 11);
  }

  @Test
  void collectionsInVainBecomeRarer() {
    for (int time = 0; time < 1_000_000; time++) {
      gauge.live = 1000;
      gauge.garbage = 500;
      assertThat(heap.hasRoom(1000)).isFalse();
      gauge.nanos += 1000;
    }
    assertThat(gauge.collections).isBetween(10, 20);
  }

  @Test
  void aMapperThatHasGrownMakesItTight() {
    gauge.live = 1500;
    assertThat(heap.isTight(0)).isFalse();
    gauge.live = 1000;
    assertThat(heap.isTight(500)).isFalse();
    gauge.live = 1500;
    gauge.garbage = 10;
    assertThat(heap.isTight(0)).isFalse();
    assertThat(gauge.collections).isEqualTo(1);
    gauge.live = 1501;
    assertThat(heap.isTight(0)).as("too early for another").isFalse();
    gauge.liveBefore = 1501;
    assertThat(heap.isTight(0)).as("the JVM has done one").isTrue();
    gauge.nanos += 1000;
    gauge.liveBefore = 0;
    assertThat(heap.isTight(0)).isTrue();
    assertThat(gauge.collections).isEqualTo(2);
  }

  @Test
  void thisProcessTellsOfItself() {
    TaskHeap own = new TaskHeap();
    assertThat(own.hasRoom(1 << 20)).isTrue();
    assertThat(own.hasRoom(Runtime.getRuntime().maxMemory())).isFalse();
    assertThat(own.isTight(0)).isFalse();
  }
}
