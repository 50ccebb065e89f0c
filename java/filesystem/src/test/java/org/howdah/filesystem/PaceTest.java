package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  private static final int MIB = 1 << 20;
  private static final long SLOW = 20_000_000;
  private static final long FAST = 100_000;

  private final Pace pace = new Pace(new Speed(500_000_000));

  private int slowCallsNeeded() {
    int calls = 1;
    while (!pace.isSlow(MIB, SLOW)) {
      calls++;
    }
    return calls;
  }

  @Test
  void aFewSlowCallsAreAnAccident() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.isSlow(MIB, SLOW)).isFalse();
      assertThat(pace.isSlow(MIB, SLOW)).isFalse();
      assertThat(pace.isSlow(MIB, SLOW)).isFalse();
      assertThat(pace.isSlow(MIB, FAST)).isFalse();
    }
  }

  @Test
  void slowCallsInARowAreNone() {
    assertThat(slowCallsNeeded()).isEqualTo(4);
  }

  @Test
  void whoWasMistakenWaitsTwiceAsLong() {
    for (int needed : new int[] {4, 8, 16, 32, 64, 64}) {
      assertThat(slowCallsNeeded()).isEqualTo(needed);
      pace.mistaken();
    }
  }

  @Test
  void callsElsewhereDoNotCountTogether() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.isSlow(MIB, SLOW)).isFalse();
      pace.interrupted();
    }
  }

  @Test
  void shortCallsTellNothing() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.isSlow(4096, SLOW)).isFalse();
    }
  }
}
