package org.howdah.shuffle;

import java.util.ArrayList;
import java.util.List;

/**
 * The fetchers of a shuffle: as many as are to copy at once, and, so that hosts that do not answer
 * keep no other waiting, one more for each that waits for such a host.
 */
final class Fetchers {
  /** Makes the fetcher of a number. */
  interface Maker {
    Worker fetcher(int number, Fetchers all);
  }

  // Beyond these, hosts that do not answer do keep others waiting, as they do in Hadoop's own.
  private static final int MOST_AWAY = 20;

  private final int copies;
  private final Maker maker;
  private final List<Worker> alive = new ArrayList<>();
  private int numbers;
  private int away;
  private boolean ended;

  Fetchers(int copies, Maker maker) {
    this.copies = copies;
    this.maker = maker;
  }

  synchronized void start() {
    while (alive.size() < copies) {
      add();
    }
  }

  private void add() {
    Worker fetcher = maker.fetcher(numbers++, this);
    alive.add(fetcher);
    fetcher.start();
  }

  /** A fetcher begins to wait for a host. */
  synchronized void away() {
    away++;
    if (!ended && alive.size() - away < copies && alive.size() < copies + MOST_AWAY) {
      add();
    }
  }

  /** It is back. */
  synchronized void back() {
    away--;
  }

  /** Whether {@code fetcher}, between two hosts, is one too many; it has to end then. */
  synchronized boolean isOver(Worker fetcher) {
    return alive.size() - away > copies && alive.remove(fetcher);
  }

  /** All fetchers there are; none is made any more. */
  synchronized List<Worker> end() {
    ended = true;
    return new ArrayList<>(alive);
  }
}
