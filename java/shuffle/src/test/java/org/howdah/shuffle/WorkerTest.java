package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkerTest {
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final CountDownLatch working = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /** As {@code HttpURLConnection.disconnect} does beside a reader that is at its end. */
  @Test
  void aConnectionThatFailsWhenItIsClosedDoesNotFailTheShuffle() throws InterruptedException {
    Worker worker =
        new Worker("worker", failures::add) {
          @Override
          void work() throws InterruptedException {
            working.countDown();
            try {
              new CountDownLatch(1).await();
            } finally {
              ended.countDown();
            }
          }

          @Override
          void interrupted() {
            throw new NullPointerException("hc is null");
          }
        };
    worker.start();
    working.await();
    worker.stop();
    ended.await();
    worker.join();
    assertThat(failures).isEmpty();
  }

  @Test
  void whatAWorkerThrowsIsReported() throws InterruptedException {
    IllegalStateException thrown = new IllegalStateException();
    Worker worker =
        new Worker("worker", failures::add) {
          @Override
          void work() {
            throw thrown;
          }
        };
    worker.start();
    worker.join();
    assertThat(failures).containsExactly(thrown);
  }
}
