package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.junit.jupiter.api.Test;

class ListingTest {
  private static final int NAMES = 3000;
  private static final long SLOW = 200_000;

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  private FileStatus[] listed(Listing.Maker maker) throws IOException {
    Configuration conf = new Configuration(false);
    conf.set("fs.posixfs.list.parallel", "100");
    Settings settings = new Settings("posixfs", conf);
    Background.allow(settings.threads);
    Listing listing = new Listing(settings, 0, maker);
    for (int i = 0; i < NAMES; i++) {
      listing.add(Paths.get("/" + i));
    }
    return listing.finish();
  }

  private FileStatus made(Path name, long nanoseconds) {
    threads.add(Thread.currentThread());
    if (nanoseconds > 0) {
      LockSupport.parkNanos(nanoseconds);
    }
    int number = Integer.parseInt(name.getFileName().toString());
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(name.toString());
    return number % 10 == 0 ? null : new FileStatus(number, false, 1, 1, 0, path);
  }

  /** In their order, without those that are gone. */
  private static void checkOrder(FileStatus[] found) {
    List<Long> expected = new ArrayList<>();
    List<Long> numbers = new ArrayList<>();
    for (long i = 0; i < NAMES; i++) {
      if (i % 10 != 0) {
        expected.add(i);
      }
    }
    for (FileStatus status : found) {
      numbers.add(status.getLen());
    }
    assertThat(numbers).isEqualTo(expected);
  }

  @Test
  void theThreadThatReadsAsksWhereAnswersComeAtOnce() throws IOException {
    checkOrder(listed(name -> made(name, 0)));
    assertThat(threads).containsExactly(Thread.currentThread());
  }

  @Test
  void othersHelpWhereAnswersAreSlow() throws IOException {
    checkOrder(listed(name -> made(name, SLOW)));
    assertThat(threads.size()).isGreaterThan(2);
  }

  @Test
  void whatGoesWrongInAnotherThreadIsThrown() {
    assertThatThrownBy(
            () ->
                listed(
                    name -> {
                      if (name.endsWith("2900")) {
                        throw new IOException("no answer");
                      }
                      return made(name, SLOW);
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("no answer");
  }
}
