package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StopwatchTest {
  private static final long WORK = TimeUnit.MILLISECONDS.toNanos(50);

  @Test
  void workIsNoWaiting() {
    long began = System.nanoTime();
    Stopwatch watch = new Stopwatch(true);
    work();
    long waited = watch.waited();
    assertThat(waited).isLessThanOrEqualTo(System.nanoTime() - began - WORK);
  }

  @Test
  void unlessItIsNotToldApart() {
    Stopwatch watch = new Stopwatch(false);
    work();
    assertThat(watch.waited()).isGreaterThanOrEqualTo(WORK);
  }

  @Test
  void sleepIsWaiting() throws InterruptedException {
    Stopwatch watch = new Stopwatch(true);
    Thread.sleep(20);
    assertThat(watch.waited()).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(15));
  }

  @Test
  void aPaceTellsThemApartAfterASlowCall() {
    Pace pace = new Pace(new Speed(500_000_000));
    Stopwatch before = pace.start();
    work();
    assertThat(before.waited()).isGreaterThanOrEqualTo(WORK);
    pace.isSlow(1 << 20, WORK);
    long began = System.nanoTime();
    Stopwatch after = pace.start();
    work();
    long waited = after.waited();
    assertThat(waited).isLessThanOrEqualTo(System.nanoTime() - began - WORK);
  }

  private static void work() {
    long until = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + WORK;
    while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < until) {
      Math.sqrt(until);
    }
  }
}
