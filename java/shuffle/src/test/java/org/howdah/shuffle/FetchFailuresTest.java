package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.junit.jupiter.api.Test;

/** Hosts that do not answer, or not to the end: as in Hadoop, only what lasts is a failure. */
class FetchFailuresTest extends ReduceFixture {
  private static final String CONNECT_MS = "mapreduce.reduce.shuffle.connect.timeout";
  private static final String RETRY = "mapreduce.reduce.shuffle.fetch.retry.enabled";

  /** Shuffles while the server is down until the master has been told of a map so many times. */
  private void downUntilTold(int times, JobConf job) throws Exception {
    status.failedMaps.clear();
    server.stop();
    noticeMs = 100;
    Thread restart =
        new Thread(
            () -> {
              try {
                while (told() < times) {
                  Thread.sleep(10);
                }
                // Long enough for one more.
                Thread.sleep(500);
                server.start();
              } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
              }
            });
    restart.start();
    assertThat(shuffle(job)).isEqualTo(expected);
    restart.join();
    assertThat(told()).isEqualTo(times);
    assertThat(failed()).isZero();
    assertThat(errors("IO_ERROR")).isZero();
  }

  /** How often the master was told of the map that it was told of most often. */
  private int told() {
    Set<TaskAttemptID> maps = new HashSet<>(status.failedMaps);
    return maps.stream()
        .mapToInt(map -> Collections.frequency(status.failedMaps, map))
        .max()
        .orElse(0);
  }

  @Test
  void aServerThatIsDownForAWhileIsNoFailure() throws Exception {
    downUntilTold(3, job());
  }

  // Promise (how-to/accelerate): A silent host's maps run again once, and only those with two
  // attempts left
  @Test
  void allReducesTogetherHaveAMapOfASilentHostRunAgainOnce() throws Exception {
    JobConf job = job();
    job.setNumReduceTasks(2);
    downUntilTold(2, job);
    job.setNumReduceTasks(100);
    downUntilTold(1, job);
    reduce = Segments.reduce(1);
    downUntilTold(0, job);
  }

  /** In the master's eyes it would have failed, and after its last attempt the job would. */
  // Promise (how-to/accelerate): A silent host's maps run again once, and only those with two
  // attempts left
  @Test
  void aMapThatHasFewAttemptsLeftIsNotGivenUp() throws Exception {
    JobConf job = job();
    job.setMaxMapAttempts(2);
    downUntilTold(0, job);
    job.setMaxMapAttempts(3);
    downUntilTold(3, job);
  }

  @Test
  void theMasterIsToldOfAMapThatHasTwoAttemptsLeftAndOfNoOther() throws IOException {
    for (int attempts = 1; attempts <= 4; attempts++) {
      status.failedMaps.clear();
      JobConf job = job();
      job.setMaxMapAttempts(attempts);
      EarlyNotices notices =
          new EarlyNotices(
              Segments.context(reduce, job, reporter, null, master(), status, null), false, 100);
      for (int silentMs = 100; silentMs <= 1000; silentMs += 100) {
        notices.silent(Collections.singleton(Segments.map(3)), silentMs);
      }
      assertThat(told()).as("%d attempts", attempts).isEqualTo(attempts < 3 ? 0 : 3);
    }
  }

  @Test
  void whereOutputsOutliveARestartTheMasterIsNotTold() throws Exception {
    JobConf job = job();
    job.setBoolean("yarn.nodemanager.recovery.enabled", true);
    downUntilTold(0, job);
  }

  // Promise (how-to/accelerate): A host that does not answer is tried as long as `connect.timeout`
  // says
  @Test
  void aServerThatStaysDownIsAFailureWhenTheTimeToConnectIsOver() {
    server.stop();
    noticeMs = 100;
    JobConf job = job();
    job.setInt(CONNECT_MS, 700);
    long began = System.nanoTime();
    assertThatThrownBy(() -> shuffle(job)).isInstanceOf(IOException.class);
    assertThat(System.nanoTime() - began).isGreaterThan(700_000_000L);
    assertThat(failed()).isPositive();
    assertThat(errors("IO_ERROR")).isPositive();
  }

  /** As in Hadoop, whose one attempt then may take as long as it wants, and is not repeated. */
  @Test
  void noLimitOfTheTimeToConnect() throws Exception {
    JobConf job = job();
    job.setInt(CONNECT_MS, 0);
    assertThat(shuffle(job)).isEqualTo(expected);
    server.stop();
    assertThatThrownBy(() -> shuffle(job)).isInstanceOf(IOException.class);
    assertThat(errors("IO_ERROR")).isPositive();
  }

  private static String nobody() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "http://127.0.0.1:" + free.getLocalPort();
    }
  }

  /** With one fetcher: it must not wait for a host that is gone while others could be served. */
  // Promise (how-to/accelerate): Other hosts are served while one does not answer
  @Test
  void mapsOfHostsThatAreGoneRunAgainWhileTheOthersAreFetched() throws Exception {
    int gone = 5;
    events.clear();
    for (int map = 0; map < MAPS; map++) {
      succeeded(Segments.map(map), map < gone ? nobody() : server.url());
    }
    AtomicInteger sent = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          server.all(request, maps);
          if (sent.addAndGet(maps.size()) == MAPS - gone) {
            for (int map = 0; map < gone; map++) {
              event(Segments.map(map), TaskCompletionEvent.Status.OBSOLETE, "");
              TaskAttemptID again = Segments.map(map, 1);
              output(again);
              succeeded(again, server.url());
            }
          }
        };
    JobConf job = job();
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 1);
    job.setInt(CONNECT_MS, 1_000_000);
    noticeMs = 1000;
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(failed()).isZero();
    assertThat(server.asked).doesNotContain(Segments.map(0).toString());
  }

  // Promise (how-to/accelerate): Fetches are retried where Hadoop's keys say so
  @Test
  void anOutputThatIsCutIsAskedForAgainWhereFetchesAreRetried() throws Exception {
    AtomicInteger cut = new AtomicInteger(5);
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : maps) {
            if (cut.getAndDecrement() > 0) {
              server.sendHalf(out, map);
              return;
            }
            server.send(out, map);
          }
          out.flush();
        };
    JobConf job = job();
    job.setBoolean(RETRY, true);
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(cut.get()).isNegative();
    assertThat(failed()).isZero();
    assertThat(status.failedMaps).isEmpty();
    assertThat(errors("IO_ERROR")).isZero();
  }

  // Promise (how-to/accelerate): Fetches are retried where Hadoop's keys say so
  @Test
  void butNotForEver() throws Exception {
    String last = Segments.map(7).toString();
    AtomicInteger cut = new AtomicInteger(5);
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : maps) {
            if (!map.equals(last) || maps.size() == 1 && cut.get() == 0) {
              server.send(out, map);
            }
          }
          if (maps.contains(last) && cut.get() > 0) {
            cut.decrementAndGet();
            server.sendHalf(out, last);
          }
          out.flush();
        };
    JobConf job = job();
    job.setBoolean(RETRY, true);
    job.setInt("mapreduce.reduce.shuffle.fetch.retry.timeout-ms", 1);
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(failed()).isPositive();
    assertThat(new HashSet<>(status.failedMaps)).containsExactly(Segments.map(7));
  }

  /** As a NodeManager does with one whose index is lost. */
  @Test
  void aMapThatIsRefusedByItselfIsToBeRunAgain() throws Exception {
    TaskAttemptID last = Segments.map(MAPS - 1);
    events.remove(MAPS - 1);
    succeeded(last, server.url().replace("127.0.0.1", "localhost"));
    AtomicInteger asked = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          if (maps.contains(last.toString()) && asked.getAndIncrement() == 0) {
            request.sendResponseHeaders(500, -1);
          } else {
            server.all(request, maps);
          }
        };
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(status.failedMaps).containsExactly(last);
    assertThat(failed()).isEqualTo(1);
  }

  @Test
  void aServerThatStallsIsLeftWhenTheTimeToReadIsOver() throws Exception {
    // So few that the reduce is not given up as one that gets nothing, whenever they fail.
    int stalled = 4;
    String stalling = server.url().replace("127.0.0.1", "localhost");
    events.clear();
    for (int map = 0; map < MAPS; map++) {
      succeeded(Segments.map(map), map < MAPS - stalled ? server.url() : stalling);
    }
    String last = Segments.map(MAPS - 1).toString();
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger number = new AtomicInteger();
    AtomicInteger failing = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          // Its first request may come when not all of its maps are known.
          int kind = maps.contains(last) ? number.getAndIncrement() : 2;
          try {
            if (kind == 0) {
              // It does not even begin to answer.
              failing.addAndGet(maps.size());
              end.await();
            } else if (kind == 1) {
              failing.incrementAndGet();
              server.sendHalf(MapOutputServer.begin(request), maps.get(0));
              end.await();
            }
          } catch (InterruptedException stopped) {
            throw new IOException(stopped);
          }
          server.all(request, maps);
        };
    JobConf job = job();
    job.setInt("mapreduce.reduce.shuffle.read.timeout", 2000);
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 1);
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(errors("IO_ERROR")).isEqualTo(2);
    assertThat(failed()).isEqualTo(failing.get());
    end.countDown();
  }

  @Test
  void aFetcherThatDiesEndsTheShuffle() {
    Error broken = new NoClassDefFoundError("of a codec");
    reporter.onProgress =
        () -> {
          if (Thread.currentThread().getName().startsWith("fetcher")) {
            throw broken;
          }
        };
    JobConf job = job();
    job.setLong("mapreduce.reduce.memory.totalbytes", 30_000);
    assertThatThrownBy(() -> shuffle(job)).isInstanceOf(IOException.class).hasCause(broken);
  }

  /** As in Hadoop: the fault is this node's, and another one may have none. */
  // Promise (how-to/accelerate): A reduce attempt that cannot create a local file fails, and no map
  // runs again for it
  @Test
  void anAttemptThatCannotCreateAFileIsGivenUpAndNoMapIsBlamed() throws IOException {
    for (int map = 0; map < MAPS; map++) {
      // What the first output that goes to disk is to be named, whichever map's it is.
      Files.createDirectories(directory.resolve(String.format("output/map_%d.out.%d.0", map, map)));
    }
    JobConf job = job();
    job.set("mapreduce.reduce.shuffle.memory.limit.percent", "0");
    job.setBoolean(RETRY, true);
    assertThatThrownBy(() -> shuffle(job)).hasRootCauseInstanceOf(FileNotFoundException.class);
    assertThat(status.failedMaps).isEmpty();
    assertThat(failed()).isZero();
    assertThat(errors("IO_ERROR")).isZero();
  }

  private static List<String> threads() {
    List<String> names = new ArrayList<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().matches("fetcher .*|map events")) {
        names.add(thread.getName());
      }
    }
    return names;
  }

  @Test
  void aReduceThatIsInterruptedAgainAndAgainLeavesNoThread() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    server.answer =
        (request, maps) -> {
          asked.countDown();
          try {
            end.await();
          } catch (InterruptedException stopped) {
            throw new IOException(stopped);
          }
        };
    Thread reducing =
        new Thread(
            () -> {
              try {
                shuffle(job());
              } catch (IOException | InterruptedException interrupted) {
                return;
              }
            });
    reducing.start();
    asked.await();
    assertThat(threads()).isNotEmpty();
    while (reducing.isAlive()) {
      reducing.interrupt();
      Thread.yield();
    }
    for (int tries = 0; tries < 100 && !threads().isEmpty(); tries++) {
      Thread.sleep(100);
    }
    assertThat(threads()).isEmpty();
    end.countDown();
  }

  /** What is read where it lies says nothing of why one of the same host cannot be had. */
  @Test
  void aDamagedOutputIsAFailureWhileOthersOfItsNodeKeepComing() throws Exception {
    JobConf job = job();
    job.setBoolean(RETRY, true);
    job.setInt("mapreduce.reduce.shuffle.fetch.retry.timeout-ms", 1500);
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 1);
    TaskAttemptID damaged = Segments.map(0);
    byte[] whole = server.segments.get(damaged.toString());
    byte[] changed = Segments.changed(whole, whole.length / 2);
    server.put(damaged, changed, server.rawLengths.get(damaged.toString()));
    onThisNode(job, directory);
    List<TaskCompletionEvent> later = new ArrayList<>(events.subList(1, MAPS));
    events.removeAll(later);
    AtomicInteger before = new AtomicInteger();
    Thread maps =
        new Thread(
            () -> {
              try {
                // The master is asked for more of them every second.
                for (TaskCompletionEvent one : later) {
                  succeeded(TaskAttemptID.downgrade(one.getTaskAttemptId()), server.url());
                  if (status.failedMaps.isEmpty()) {
                    before.set(events.size());
                  }
                  Thread.sleep(200);
                }
                while (status.failedMaps.isEmpty()) {
                  Thread.sleep(10);
                }
                event(damaged, TaskCompletionEvent.Status.OBSOLETE, "");
                output(Segments.map(0, 1));
                succeeded(Segments.map(0, 1), server.url());
              } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
              }
            });
    maps.start();
    assertThat(shuffle(job, "127.0.0.1")).isEqualTo(expected);
    maps.join();
    assertThat(before.get()).isLessThan(MAPS);
  }
}
