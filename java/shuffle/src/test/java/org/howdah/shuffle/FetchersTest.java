package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FetchersTest {
  private static final int COPIES = 3;

  private final List<Worker> made = new ArrayList<>();
  private final Fetchers fetchers =
      new Fetchers(
          COPIES,
          (number, all) -> {
            Worker fetcher = worker(number);
            made.add(fetcher);
            return fetcher;
          });

  private static Worker worker(int number) {
    return new Worker("fetcher " + number, thrown -> {}) {
      @Override
      void work() {}
    };
  }

  /** A host that is busy for hours has one wait for it, and be back, thousands of times. */
  @Test
  void thoseThatHaveEndedAreForgotten() {
    fetchers.start();
    for (int times = 0; times < 1000; times++) {
      fetchers.away();
      fetchers.back();
      Worker last = made.get(made.size() - 1);
      assertThat(fetchers.isOver(last)).isTrue();
      assertThat(fetchers.isOver(made.get(0))).isFalse();
    }
    assertThat(made).hasSize(COPIES + 1000);
    assertThat(fetchers.end()).isEqualTo(made.subList(0, COPIES));
  }

  @Test
  void forEachThatWaitsThereIsAnotherUpToALimit() {
    fetchers.start();
    for (int waiting = 0; waiting < 100; waiting++) {
      fetchers.away();
    }
    assertThat(made).hasSize(COPIES + 20);
    fetchers.end();
    for (int back = 0; back < 100; back++) {
      fetchers.back();
    }
    for (Worker fetcher : new ArrayList<>(made)) {
      fetchers.isOver(fetcher);
    }
    assertThat(fetchers.end()).hasSize(COPIES);
  }
}
