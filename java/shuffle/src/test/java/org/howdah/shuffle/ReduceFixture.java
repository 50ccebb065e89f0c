package org.howdah.shuffle;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A reduce of thirty maps whose outputs a server has, and what an application master says. */
@Timeout(120)
abstract class ReduceFixture {
  static final int MAPS = 30;

  @TempDir Path directory;

  final List<String> expected = new ArrayList<>();
  final List<TaskCompletionEvent> events = Collections.synchronizedList(new ArrayList<>());
  final Segments.Counting reporter = new Segments.Counting();
  final Segments.Status status = new Segments.Status();
  final MapOutputServer server = new MapOutputServer();

  /** How long a host is silent before the master hears of it. */
  long noticeMs = 15_000;

  TaskAttemptID reduce = Segments.reduce(0);

  /** Whether the master has its next answer say that all events are to be read anew. */
  volatile boolean resets;

  ShuffleConsumerPlugin.Context<Text, Text> context;

  @BeforeEach
  void serve() throws IOException {
    server.start();
    for (int map = 0; map < MAPS; map++) {
      expected.addAll(output(Segments.map(map)));
      succeeded(Segments.map(map), server.url());
    }
    Collections.sort(expected);
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  /** Gives the server the output of an attempt, the same for every attempt of a map. */
  List<String> output(TaskAttemptID map) throws IOException {
    List<String> keys = Segments.keys(map.getTaskID().getId(), 200);
    server.put(map, Segments.bytes(keys, null), Segments.rawLength(keys));
    return keys;
  }

  void succeeded(TaskAttemptID map, String url) {
    event(map, TaskCompletionEvent.Status.SUCCEEDED, url);
  }

  void event(TaskAttemptID map, TaskCompletionEvent.Status how, String url) {
    synchronized (events) {
      TaskCompletionEvent event =
          new TaskCompletionEvent(events.size(), map, map.getTaskID().getId(), true, how, url);
      // Hadoop gives up when nothing has come for half as long as a map takes.
      event.setTaskRunTime(1_000_000);
      events.add(event);
    }
  }

  TaskUmbilicalProtocol master() {
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
              boolean reset = resets && from > 0;
              resets &= !reset;
              return new MapTaskCompletionEventsUpdate(some, reset);
            });
  }

  JobConf job() {
    JobConf job = Segments.job(directory, MAPS);
    job.setInt("mapreduce.reduce.shuffle.fetch.retry.interval-ms", 10);
    job.setInt("mapreduce.reduce.shuffle.retry-delay.max.ms", 100);
    return job;
  }

  List<String> shuffle(JobConf job) throws IOException, InterruptedException {
    return shuffle(job, null);
  }

  List<String> shuffle(JobConf job, String node) throws IOException, InterruptedException {
    MergingShuffle<Text, Text> shuffle = new MergingShuffle<>(node, noticeMs);
    context = Segments.context(reduce, job, reporter, null, master(), status, null);
    shuffle.init(context);
    List<String> found = Segments.read(shuffle.run());
    shuffle.close();
    return found;
  }

  long counted(String name) {
    return reporter.of(MergingShuffle.COUNTERS, name);
  }

  long errors(String name) {
    return reporter.of("Shuffle Errors", name);
  }

  /** What Hadoop's scheduler was told that could not be had. */
  long failed() {
    return context.getFailedShuffleCounter().getValue();
  }

  /**
   * Writes the outputs that the server has where a NodeManager of this host would have them, behind
   * that of another reduce.
   */
  void onThisNode(JobConf job, Path local) throws IOException {
    for (Map.Entry<String, byte[]> one : server.segments.entrySet()) {
      onThisNode(job, local, one.getKey(), one.getValue(), server.rawLengths.get(one.getKey()));
    }
  }

  static void onThisNode(JobConf job, Path local, String map, byte[] segment, long rawLength)
      throws IOException {
    byte[] other = Segments.bytes(Segments.keys(99, 10), null);
    byte[] whole = new byte[other.length + segment.length];
    System.arraycopy(other, 0, whole, 0, other.length);
    System.arraycopy(segment, 0, whole, other.length, segment.length);
    Segments.file(local, "output/" + map + "/file.out", whole);
    SpillRecord index = new SpillRecord(1);
    index.putIndex(new IndexRecord(other.length, rawLength, segment.length), 0);
    Path path = local.resolve("output/" + map + "/file.out.index");
    index.writeToFile(new org.apache.hadoop.fs.Path(path.toUri()), job);
    // Hadoop's own checksums of files, which maps have none of, would hide what is tested.
    java.nio.file.Files.deleteIfExists(path.resolveSibling(".file.out.index.crc"));
  }
}
