package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A reduce that fetches from a server of ours, which speaks Hadoop's protocol, and misbehaves as
 * told.
 */
@Timeout(120)
class MergingShuffleTest {
  private static final int MAPS = 30;

  @TempDir Path directory;

  /** What the server does with one request. */
  private interface Answer {
    void give(HttpExchange request, List<String> maps) throws IOException;
  }

  private final Map<String, byte[]> segments = new HashMap<>();
  private final Map<String, Long> rawLengths = new HashMap<>();
  private final List<String> expected = new ArrayList<>();
  private final List<TaskCompletionEvent> events = Collections.synchronizedList(new ArrayList<>());
  private final Segments.Counting reporter = new Segments.Counting();
  private final AtomicInteger requests = new AtomicInteger();
  private final Segments.Status status = new Segments.Status();
  private HttpServer server;
  private Answer answer = this::all;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/mapOutput", this::handle);
    server.start();
    for (int map = 0; map < MAPS; map++) {
      List<String> keys = Segments.keys(map, 200);
      expected.addAll(keys);
      String id = Segments.map(map).toString();
      segments.put(id, Segments.bytes(keys, null));
      rawLengths.put(id, Segments.rawLength(keys));
      succeeded(map);
    }
    Collections.sort(expected);
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void succeeded(int map) {
    TaskCompletionEvent event =
        new TaskCompletionEvent(
            events.size(),
            Segments.map(map),
            map,
            true,
            TaskCompletionEvent.Status.SUCCEEDED,
            "http://127.0.0.1:" + server.getAddress().getPort());
    // Hadoop gives up when nothing has come for half as long as a map takes.
    event.setTaskRunTime(1_000_000);
    events.add(event);
  }

  private void handle(HttpExchange request) throws IOException {
    requests.incrementAndGet();
    String query = request.getRequestURI().getQuery();
    String hash = request.getRequestHeaders().getFirst(SecureShuffleUtils.HTTP_HEADER_URL_HASH);
    String url = "/mapOutput?" + query;
    String signed =
        SecureShuffleUtils.hashFromString(
            server.getAddress().getPort() + url,
            new javax.crypto.spec.SecretKeySpec(new byte[20], "HmacSHA1"));
    // As Hadoop's: the signature is of the port and what follows, the reply is signed in turn.
    String reply =
        SecureShuffleUtils.generateHash(
            hash.getBytes(java.nio.charset.StandardCharsets.UTF_8),
            new javax.crypto.spec.SecretKeySpec(new byte[20], "HmacSHA1"));
    request.getResponseHeaders().add(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH, reply);
    request
        .getResponseHeaders()
        .add(ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
    request
        .getResponseHeaders()
        .add(ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
    try {
      assertThat(signed).isEqualTo(hash);
      answer.give(request, Arrays.asList(query.substring(query.indexOf("map=") + 4).split(",")));
    } finally {
      request.close();
    }
  }

  private void all(HttpExchange request, List<String> maps) throws IOException {
    request.sendResponseHeaders(200, 0);
    DataOutputStream out = new DataOutputStream(request.getResponseBody());
    for (String map : maps) {
      send(out, map, segments.get(map), 0);
    }
    out.flush();
  }

  private void send(DataOutputStream out, String map, byte[] segment, int reduce)
      throws IOException {
    new ShuffleHeader(map, segment.length, rawLengths.get(map), reduce).write(out);
    out.write(segment);
  }

  private TaskUmbilicalProtocol master() {
    return (TaskUmbilicalProtocol)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {TaskUmbilicalProtocol.class},
            (proxy, method, given) -> {
              if (!method.getName().equals("getMapCompletionEvents")) {
                AMFeedback known = new AMFeedback();
                known.setTaskFound(true);
                return known;
              }
              int from = (Integer) given[1];
              TaskCompletionEvent[] some;
              synchronized (events) {
                some =
                    events
                        .subList(Math.min(from, events.size()), events.size())
                        .toArray(new TaskCompletionEvent[0]);
              }
              return new MapTaskCompletionEventsUpdate(some, false);
            });
  }

  private JobConf job() {
    JobConf job = Segments.job(directory, MAPS);
    job.setInt("mapreduce.reduce.shuffle.fetch.retry.interval-ms", 10);
    job.setInt("mapreduce.reduce.shuffle.retry-delay.max.ms", 100);
    return job;
  }

  private List<String> shuffle(JobConf job) throws IOException, InterruptedException {
    return shuffle(job, null);
  }

  private List<String> shuffle(JobConf job, String node) throws IOException, InterruptedException {
    MergingShuffle<Text, Text> shuffle = new MergingShuffle<>(node);
    shuffle.init(Segments.context(job, reporter, null, master(), status));
    List<String> found = Segments.read(shuffle.run());
    shuffle.close();
    return found;
  }

  @Test
  void everyMapIsFetched() throws Exception {
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(reporter.of(MergingShuffle.COUNTERS, "SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(reporter.of(MergingShuffle.COUNTERS, "RECORDS")).isEqualTo(expected.size());
  }

  @Test
  void whatDoesNotFitInMemoryGoesToDisk() throws Exception {
    JobConf job = job();
    job.setLong("mapreduce.reduce.memory.totalbytes", 30_000);
    assertThat(shuffle(job)).isEqualTo(expected);
  }

  @Test
  void aDamagedOutputIsNeverTaken() throws Exception {
    AtomicInteger damaged = new AtomicInteger(8);
    answer =
        (request, maps) -> {
          request.sendResponseHeaders(200, 0);
          DataOutputStream out = new DataOutputStream(request.getResponseBody());
          for (String map : maps) {
            byte[] segment = segments.get(map);
            boolean whole = damaged.getAndDecrement() <= 0;
            send(out, map, whole ? segment : Segments.changed(segment, segment.length / 2), 0);
          }
          out.flush();
        };
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(reporter.of("Shuffle Errors", "IO_ERROR")).isPositive();
    assertThat(status.failedMaps).isNotEmpty();
  }

  @Test
  void answersThatEndEarlyOrAreForOthersAreAskedForAgain() throws Exception {
    AtomicInteger number = new AtomicInteger();
    answer =
        (request, maps) -> {
          // Hadoop gives up on early failures: at first, more than half of the maps arrive.
          int kind = number.get() == 0 && maps.size() < 20 ? 6 : number.getAndIncrement();
          request.sendResponseHeaders(kind == 1 ? 500 : 200, 0);
          DataOutputStream out = new DataOutputStream(request.getResponseBody());
          String map = maps.get(0);
          if (kind == 0) {
            for (String one : maps.subList(0, maps.size() - 2)) {
              send(out, one, segments.get(one), 0);
            }
          } else if (kind == 2) {
            out.write(new byte[] {5, 'x'});
          } else if (kind == 3) {
            send(out, map, segments.get(map), 1);
          } else if (kind == 4) {
            new ShuffleHeader(map, segments.get(map).length, rawLengths.get(map), 0).write(out);
            out.write(segments.get(map), 0, 100);
          } else if (kind == 5) {
            send(out, "attempt_9_0001_m_000000_0", new byte[20], 0);
          } else if (kind > 5) {
            for (String one : maps) {
              send(out, one, segments.get(one), 0);
            }
          }
          out.flush();
        };
    rawLengths.put("attempt_9_0001_m_000000_0", 10L);
    assertThat(shuffle(job())).isEqualTo(expected);
  }

  @Test
  void aBusyServerIsAskedLater() throws Exception {
    AtomicInteger number = new AtomicInteger();
    answer =
        (request, maps) -> {
          if (number.getAndIncrement() < 3) {
            request.getResponseHeaders().add("Retry-After", "10");
            request.sendResponseHeaders(429, -1);
          } else {
            all(request, maps);
          }
        };
    assertThat(shuffle(job())).isEqualTo(expected);
  }

  @Test
  void aServerWithoutTheSecretIsNotBelieved() {
    server.removeContext("/mapOutput");
    server.createContext(
        "/mapOutput",
        request -> {
          request.getResponseHeaders().add(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH, "none");
          request.getResponseHeaders().add(ShuffleHeader.HTTP_HEADER_NAME, "mapreduce");
          request.getResponseHeaders().add(ShuffleHeader.HTTP_HEADER_VERSION, "1.0.0");
          String query = request.getRequestURI().getQuery();
          all(request, Arrays.asList(query.substring(query.indexOf("map=") + 4).split(",")));
          request.close();
        });
    assertThatThrownBy(() -> shuffle(job())).isInstanceOf(IOException.class);
    assertThat(reporter.of(MergingShuffle.COUNTERS, "SEGMENTS_HTTP")).isZero();
  }

  @Test
  void encryptedDataIsLeftToHadoop() throws Exception {
    JobConf job = job();
    job.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    new MergingShuffle<Text, Text>().init(Segments.context(job, reporter, null, master(), status));
    assertThat(reporter.of(MergingShuffle.COUNTERS, "FALLBACKS")).isEqualTo(1);
  }

  /**
   * Writes the outputs of all maps where a NodeManager of this host would have them, behind that of
   * another reduce.
   */
  private void onThisNode(JobConf job, Path local) throws IOException {
    for (String map : segments.keySet()) {
      byte[] other = Segments.bytes(Segments.keys(99, 10), null);
      byte[] whole = Arrays.copyOf(other, other.length + segments.get(map).length);
      System.arraycopy(segments.get(map), 0, whole, other.length, segments.get(map).length);
      Segments.file(local, "output/" + map + "/file.out", whole);
      SpillRecord index = new SpillRecord(1);
      index.putIndex(
          new IndexRecord(other.length, rawLengths.get(map), segments.get(map).length), 0);
      index.writeToFile(
          new org.apache.hadoop.fs.Path(local.resolve("output/" + map + "/file.out.index").toUri()),
          job);
    }
  }

  private long direct() {
    return reporter.of(MergingShuffle.COUNTERS, "SEGMENTS_DIRECT");
  }

  @Test
  void outputsOfThisNodeAreReadWhereTheyLie() throws Exception {
    onThisNode(job(), directory);
    assertThat(shuffle(job(), "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(requests.get()).isZero();
  }

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
    // Hadoop's own checksums of the files, which maps have none of, would hide what is tested.
    for (int map = 1; map <= 5; map++) {
      Files.deleteIfExists(output.resolve(Segments.map(map) + "/.file.out.index.crc"));
    }
    assertThat(shuffle(job(), "127.0.0.1")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS - 5);
    assertThat(reporter.of(MergingShuffle.COUNTERS, "SEGMENTS_HTTP")).isEqualTo(5);
  }

  @Test
  void outputsOnASharedFileSystemAreReadWhereverTheMapRan() throws Exception {
    onThisNode(job(), directory.resolve("of-127.0.0.1/local/app"));
    Files.createDirectories(directory.resolve("of-127.0.0.2/local/app"));
    JobConf job = job();
    job.set("mapreduce.cluster.local.dir", directory.resolve("of-127.0.0.2/local/app").toString());
    job.set(DirectOutputs.SHARED, directory + "/of-{host}/local");
    assertThat(shuffle(job, "127.0.0.2")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(requests.get()).isZero();
    // A template that is wrong for this host is not believed for another one.
    assertThat(shuffle(job, "127.0.0.3")).isEqualTo(expected);
    assertThat(direct()).isEqualTo(MAPS);
    assertThat(requests.get()).isPositive();
  }
}
