package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A reduce gets and merges what its maps have written, by whatever way, and nothing else. */
class MergingShuffleTest extends ReduceFixture {
  private static final byte END = -1;

  @Test
  void everyMapIsFetched() throws Exception {
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(counted("RECORDS")).isEqualTo(expected.size());
    assertThat(counted("BYTES"))
        .isEqualTo(server.segments.values().stream().mapToLong(one -> one.length).sum())
        .isEqualTo(context.getReduceShuffleBytes().getValue());
    // As Hadoop's fetchers, whose errors are listed where there were none, too.
    assertThat(reporter.names("Shuffle Errors"))
        .containsExactlyInAnyOrder(
            "IO_ERROR", "WRONG_LENGTH", "BAD_ID", "WRONG_MAP", "CONNECTION", "WRONG_REDUCE");
  }

  /** Afterwards, a job may have no room for one: its reduces would fail when all is done. */
  @Test
  void everyCounterIsThereBeforeTheFirstRecord() throws Exception {
    MergingShuffle<Text, Text> shuffle = new MergingShuffle<>(null, noticeMs);
    context = Segments.context(reduce, job(), reporter, null, master(), status, null);
    shuffle.init(context);
    RawKeyValueIterator records = shuffle.run();
    List<String> before = reporter.names(MergingShuffle.COUNTERS);
    Segments.read(records);
    shuffle.close();
    assertThat(reporter.names(MergingShuffle.COUNTERS))
        .contains("RECORDS", "BYTES")
        .isEqualTo(before);
  }

  @Test
  void whatDoesNotFitInMemoryGoesToDisk() throws Exception {
    JobConf job = job();
    job.setLong("mapreduce.reduce.memory.totalbytes", 30_000);
    assertThat(shuffle(job)).isEqualTo(expected);
  }

  // Promise (how-to/accelerate): A damaged map output is never merged; its map runs again
  @Test
  void aDamagedOutputIsNeverTaken() throws Exception {
    AtomicInteger damaged = new AtomicInteger(8);
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : maps) {
            byte[] segment = server.segments.get(map);
            boolean whole = damaged.getAndDecrement() <= 0;
            byte[] sent = whole ? segment : Segments.changed(segment, segment.length / 2);
            MapOutputServer.send(out, map, sent, server.rawLengths.get(map), 0);
          }
          out.flush();
        };
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(errors("IO_ERROR")).isPositive();
    assertThat(status.failedMaps).isNotEmpty();
  }

  @Test
  void oneDamagedOutputIsOneFailure() throws Exception {
    AtomicInteger damaged = new AtomicInteger(1);
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : maps) {
            byte[] segment = server.segments.get(map);
            boolean whole = damaged.getAndDecrement() != 1;
            byte[] sent = whole ? segment : Segments.changed(segment, segment.length / 2);
            MapOutputServer.send(out, map, sent, server.rawLengths.get(map), 0);
          }
          out.flush();
        };
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(errors("IO_ERROR")).isEqualTo(1);
    assertThat(failed()).isEqualTo(1);
    assertThat(status.failedMaps).hasSize(1);
  }

  /** Nothing is an empty output but the mark of the end with its checksum. */
  @Test
  void whatIsShorterThanAnEmptyOutputIsNone() throws Exception {
    byte[][] sent = {
      {},
      {0, 0, 0, 0},
      Segments.summed(),
      Segments.summed(END),
      Segments.summed((byte) 0, (byte) 0),
      {END, END, 0, 0, 0, 0},
      {END, END}
    };
    long[] rawLengths = {0, 0, 0, 1, 2, 2, 2};
    AtomicInteger next = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          // Hadoop gives up on early failures: at first, most of the maps arrive.
          int kind = maps.size() == 20 ? sent.length : next.getAndIncrement();
          for (String map : maps) {
            if (kind < sent.length) {
              MapOutputServer.send(out, map, sent[kind], rawLengths[kind], 0);
            } else {
              server.send(out, map);
            }
          }
          out.flush();
        };
    JobConf job = job();
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 1);
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(next.get()).isGreaterThanOrEqualTo(sent.length);
    assertThat(errors("WRONG_LENGTH")).isEqualTo(5);
    assertThat(failed()).isEqualTo(sent.length);
  }

  @Test
  void emptyOutputsAreTaken() throws Exception {
    for (int map = 0; map < MAPS - 1; map++) {
      expected.removeAll(Segments.keys(map, 200));
      server.put(Segments.map(map), Segments.summed(END, END), 2);
    }
    JobConf job = job();
    assertThat(shuffle(job)).isEqualTo(expected);
    job.setLong("mapreduce.reduce.memory.totalbytes", 1);
    assertThat(shuffle(job)).isEqualTo(expected);
    onThisNode(job, directory);
    assertThat(shuffle(job, "127.0.0.1")).isEqualTo(expected);
    assertThat(counted("SEGMENTS_DIRECT")).isEqualTo(MAPS);
  }

  @Test
  void answersThatEndEarlyOrAreForOthersAreAskedForAgain() throws Exception {
    String other = "attempt_9_0001_m_000000_0";
    AtomicInteger number = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          // Hadoop gives up on early failures: at first, more than half of the maps arrive.
          int kind = number.get() == 0 && maps.size() < 20 ? 6 : number.getAndIncrement();
          request.sendResponseHeaders(kind == 1 ? 500 : 200, 0);
          DataOutputStream out = new DataOutputStream(request.getResponseBody());
          String map = maps.get(0);
          if (kind == 0) {
            for (String one : maps.subList(0, maps.size() - 2)) {
              server.send(out, one);
            }
          } else if (kind == 2) {
            out.write(new byte[] {5, 'x'});
          } else if (kind == 3) {
            MapOutputServer.send(out, map, server.segments.get(map), server.rawLengths.get(map), 1);
          } else if (kind == 4) {
            server.sendHalf(out, map);
          } else if (kind == 5) {
            MapOutputServer.send(out, other, new byte[20], 10, 0);
          } else if (kind > 5) {
            for (String one : maps) {
              server.send(out, one);
            }
          }
          out.flush();
        };
    assertThat(shuffle(job())).isEqualTo(expected);
  }

  @Test
  void aBusyServerIsAskedLater() throws Exception {
    AtomicInteger number = new AtomicInteger();
    server.answer =
        (request, maps) -> {
          if (number.getAndIncrement() < 3) {
            request.getResponseHeaders().add("Retry-After", "10");
            request.sendResponseHeaders(429, -1);
          } else {
            server.all(request, maps);
          }
        };
    assertThat(shuffle(job())).isEqualTo(expected);
  }

  @Test
  void aServerWithoutTheSecretIsNotBelieved() {
    server.answer =
        (request, maps) -> {
          request.getResponseHeaders().set(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH, "none");
          server.all(request, maps);
        };
    assertThatThrownBy(() -> shuffle(job())).isInstanceOf(IOException.class);
    assertThat(counted("SEGMENTS_HTTP")).isZero();
  }

  // Promise (how-to/accelerate): The stock shuffle serves encrypted map outputs, and a counter says
  // why
  @Test
  void whatCannotBeServedIsLeftToHadoop() throws Exception {
    JobConf job = job();
    job.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    new MergingShuffle<Text, Text>().init(Segments.context(job, reporter, null, master(), status));
    assertThat(counted("FALLBACKS_ENCRYPTED")).isEqualTo(1);
    Map<TaskAttemptID, MapOutputFile> here = Collections.emptyMap();
    new MergingShuffle<Text, Text>()
        .init(Segments.context(reduce, job(), reporter, null, master(), status, here));
    assertThat(counted("FALLBACKS_LOCAL")).isEqualTo(1);
    assertThat(counted("FALLBACKS")).isEqualTo(2);
  }

  // Promise (how-to/accelerate): A provider that is broken leaves the job to the stock classes
  @Test
  void aBrokenProviderLeavesTheReduceToHadoop() throws Exception {
    Path services = Files.createDirectories(directory.resolve("broken/META-INF/services"));
    Files.write(
        services.resolve("org.howdah.sort.KeyOrderProvider"),
        "no.such.Provider".getBytes(StandardCharsets.US_ASCII));
    Thread thread = Thread.currentThread();
    ClassLoader usual = thread.getContextClassLoader();
    URL[] broken = {directory.resolve("broken").toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(broken, usual)) {
      thread.setContextClassLoader(loader);
      new MergingShuffle<Text, Text>()
          .init(Segments.context(job(), reporter, null, master(), status));
    } finally {
      thread.setContextClassLoader(usual);
    }
    assertThat(counted("FALLBACKS_PROVIDER")).isEqualTo(1);
  }

  @Test
  void aHadoopWithOtherClassesServesItsReducesItself() throws Exception {
    JobConf other =
        new JobConf(job()) {
          @Override
          public Class<?> getMapOutputKeyClass() {
            for (StackTraceElement caller : new Throwable().getStackTrace()) {
              if (caller.getClassName().equals(MapOutputs.class.getName())) {
                throw new NoSuchMethodError("as of another Hadoop");
              }
            }
            return super.getMapOutputKeyClass();
          }
        };
    assertThat(shuffle(other)).isEqualTo(expected);
    assertThat(counted("FALLBACKS_OTHER")).isEqualTo(1);
    assertThat(counted("FALLBACKS")).isEqualTo(1);
    assertThat(counted("RECORDS")).isZero();
  }

  @Test
  void aReduceThatGoesOnAfterItsInputHasFailedHasNotSucceeded() throws Exception {
    JobConf job = job();
    job.setLong("mapreduce.reduce.memory.totalbytes", 1);
    MergingShuffle<Text, Text> shuffle = new MergingShuffle<>(null, noticeMs);
    context = Segments.context(reduce, job, reporter, null, master(), status, null);
    shuffle.init(context);
    RawKeyValueIterator records = shuffle.run();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : all.filter(Files::isRegularFile).toArray(Path[]::new)) {
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Segments.changed(whole, whole.length / 2));
      }
    }
    assertThatThrownBy(() -> Segments.read(records)).isInstanceOf(IOException.class);
    assertThatThrownBy(shuffle::close).isInstanceOf(UncheckedIOException.class);
  }

  /** Written over, cut or gone once it was seen to be right: before it is merged. */
  @Test
  void anOutputOfThisNodeThatIsDamagedLaterIsNeverTaken() throws Exception {
    for (int kind = 0; kind < 3; kind++) {
      onThisNode(job(), directory);
      MergingShuffle<Text, Text> shuffle = new MergingShuffle<>("127.0.0.1", noticeMs);
      context = Segments.context(reduce, job(), reporter, null, master(), status, null);
      shuffle.init(context);
      RawKeyValueIterator records = shuffle.run();
      Path output = directory.resolve("output").resolve(Segments.map(5) + "/file.out");
      byte[] whole = Files.readAllBytes(output);
      int part = server.segments.get(Segments.map(5).toString()).length;
      int at = whole.length - 1 - new Random(kind).nextInt(part);
      if (kind == 0) {
        Files.write(output, Segments.changed(whole, at));
      } else if (kind == 1) {
        Files.write(output, Arrays.copyOf(whole, at));
      } else {
        Files.delete(output);
      }
      assertThatThrownBy(() -> Segments.read(records))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(output.toString());
      assertThatThrownBy(shuffle::close).isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void aDiskThatBecomesFullFailsTheReduce() throws Exception {
    JobConf job = job();
    job.setClass("fs.file.impl", FullMergeDisk.class, FileSystem.class);
    job.setBoolean("fs.file.impl.disable.cache", true);
    job.setLong("mapreduce.reduce.memory.totalbytes", 60_000);
    assertThat(shuffle(job)).isEqualTo(expected);
    long all = Long.MAX_VALUE - FullMergeDisk.ROOM.get();
    assertThat(all).isPositive();
    Random random = new Random(all);
    try {
      for (int round = 0; round < 5; round++) {
        // Which outputs go to the disk differs a little from run to run.
        FullMergeDisk.ROOM.set((long) (all * 0.9 * random.nextDouble()));
        assertThatThrownBy(() -> shuffle(job)).hasStackTraceContaining("No space left on device");
      }
    } finally {
      FullMergeDisk.ROOM.set(Long.MAX_VALUE);
    }
    assertThat(shuffle(job)).isEqualTo(expected);
  }

  /** As root alone: nobody else gives a file away. */
  @Test
  void anotherUsersFileIsNotRead() throws Exception {
    onThisNode(job(), directory);
    Path foreign = directory.resolve("output").resolve(Segments.map(5) + "/file.out");
    Assumptions.assumeTrue(System.getProperty("user.name").equals("root"));
    Files.setOwner(
        foreign,
        foreign.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
    assertThat(shuffle(job(), "127.0.0.1")).isEqualTo(expected);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(1);
  }

  private long direct() {
    return counted("SEGMENTS_DIRECT");
  }

  /** As Hadoop spreads what tasks write over all its disks. */
  @Test
  void outputsAndTheirIndexesMayLieOnDifferentDisks() throws Exception {
    Path[] disks = {
      Files.createDirectory(directory.resolve("one")),
      Files.createDirectory(directory.resolve("two"))
    };
    JobConf job = job();
    job.set("mapreduce.cluster.local.dir", disks[0] + "," + disks[1]);
    onThisNode(job, disks[0]);
    int number = 0;
    for (String map : server.segments.keySet()) {
      for (String file : new String[] {"file.out", "file.out.index"}) {
        if (number++ % 3 != 0) {
          Path there = disks[1].resolve("output/" + map + "/" + file);
          Files.createDirectories(there.getParent());
          Files.move(disks[0].resolve("output/" + map + "/" + file), there);
        }
      }
    }
    assertThat(shuffle(job, "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
  }

  // Promise (how-to/accelerate): Map outputs of the reduce's own node are read from their files
  @Test
  void outputsOfThisNodeAreReadWhereTheyLie() throws Exception {
    onThisNode(job(), directory);
    assertThat(shuffle(job(), "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(server.asked).isEmpty();
    assertThat(counted("BYTES")).isEqualTo(context.getReduceShuffleBytes().getValue()).isPositive();
  }

  // Promise (how-to/accelerate): Map outputs of the reduce's own node are read from their files
  @Test
  void thoseOfAnotherNodeAreNot() throws Exception {
    onThisNode(job(), directory);
    assertThat(shuffle(job(), "127.0.0.2")).isEqualTo(expected);
    JobConf job = job();
    job.setBoolean(DirectOutputs.DIRECT, false);
    assertThat(shuffle(job, "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isZero();
  }

  @Test
  void whatIsNotAsItShouldBeIsFetched() throws Exception {
    onThisNode(job(), directory);
    Path output = directory.resolve("output");
    Path flipped = output.resolve(Segments.map(1) + "/file.out");
    byte[] whole = Files.readAllBytes(flipped);
    Files.write(flipped, Segments.changed(whole, whole.length - 30));
    Path cut = output.resolve(Segments.map(2) + "/file.out");
    Files.write(cut, Arrays.copyOf(Files.readAllBytes(cut), 50));
    Files.delete(output.resolve(Segments.map(3) + "/file.out.index"));
    Path index = output.resolve(Segments.map(4) + "/file.out.index");
    Files.write(index, Segments.changed(Files.readAllBytes(index), 5));
    Files.delete(output.resolve(Segments.map(5) + "/file.out"));
    // As whoever could make a link would have the reduce read another file.
    for (String name : new String[] {"6/file.out", "7/file.out.index"}) {
      int slash = name.indexOf('/');
      int map = Integer.parseInt(name.substring(0, slash));
      Path link = output.resolve(Segments.map(map) + name.substring(slash));
      Files.move(link, directory.resolve("elsewhere" + map));
      Files.createSymbolicLink(link, directory.resolve("elsewhere" + map));
    }
    assertThat(shuffle(job(), "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS - 7);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(7);
  }

  /** A local file system that reads no map output, as where a class that this needs cannot be. */
  public static final class Unlinked extends LocalFileSystem {
    private static final AtomicInteger ASKED = new AtomicInteger();

    public Unlinked() {
      super(
          new RawLocalFileSystem() {
            @Override
            public FSDataInputStream open(org.apache.hadoop.fs.Path file, int buffer)
                throws IOException {
              if (file.getName().equals("file.out")) {
                ASKED.incrementAndGet();
                throw new NoClassDefFoundError("no/such/Class");
              }
              return super.open(file, buffer);
            }
          });
    }
  }

  @Test
  void whereFilesCannotBeReadAtAllEachFetcherTriesOnce() throws Exception {
    onThisNode(job(), directory);
    JobConf job = job();
    job.setClass("fs.file.impl", Unlinked.class, FileSystem.class);
    job.setBoolean("fs.file.impl.disable.cache", true);
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 2);
    assertThat(shuffle(job, "127.0.0.1")).isEqualTo(expected);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(Unlinked.ASKED.get()).isBetween(1, 2);
  }

  // Promise (how-to/accelerate): Map outputs in a directory that all hosts share are read from
  // their files
  @Test
  void outputsOnASharedFileSystemAreReadWhereverTheMapRan() throws Exception {
    onThisNode(job(), directory.resolve("of-127.0.0.1/local/app"));
    Files.createDirectories(directory.resolve("of-127.0.0.2/local/app"));
    JobConf job = job();
    job.set("mapreduce.cluster.local.dir", directory.resolve("of-127.0.0.2/local/app").toString());
    job.set(DirectOutputs.SHARED, directory + "/of-{host}/local");
    assertThat(shuffle(job, "127.0.0.2")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(server.asked).isEmpty();
    // A template that is wrong for this host is not believed for another one.
    assertThat(shuffle(job, "127.0.0.3")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(server.asked).isNotEmpty();
  }
}
