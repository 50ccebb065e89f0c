package org.howdah.shuffle;

import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets the outputs of the maps of one host after the other: as files where they are here, else over
 * HTTP.
 */
final class Fetcher<K, V> extends Worker {
  private static final Logger LOG = LoggerFactory.getLogger(Fetcher.class);
  private static final int USUAL_TIMEOUT_MS = 3 * 60 * 1000;
  private static final long MOST_BACKOFF_MS = 10_000;

  /** The errors that Hadoop counts, under its names. */
  private enum Errors {
    IO_ERROR,
    WRONG_LENGTH,
    BAD_ID,
    WRONG_MAP,
    WRONG_REDUCE
  }

  private final int number;
  private final ShuffleSchedulerImpl<K, V> scheduler;
  private final MapOutputs<K, V> outputs;
  private final DirectOutputs<K, V> direct;
  private final MapServer server;
  private final Reporter reporter;
  private final int reduce;
  private final boolean retries;
  private final int retryMs;
  private final int retryTimeoutMs;
  private final Counters.Counter directSegments;
  private final Counters.Counter fetchedSegments;
  private long failingSince;

  Fetcher(
      int number,
      ShuffleConsumerPlugin.Context<K, V> context,
      ShuffleSchedulerImpl<K, V> scheduler,
      MapOutputs<K, V> outputs,
      String node,
      ExceptionReporter failed) {
    super("fetcher " + number, failed);
    this.number = number;
    this.scheduler = scheduler;
    this.outputs = outputs;
    direct = new DirectOutputs<>(outputs, node);
    JobConf job = context.getJobConf();
    server = new MapServer(job, context.getReduceTask().getShuffleSecret());
    reporter = context.getReporter();
    reduce = context.getReduceId().getTaskID().getId();
    retries =
        job.getBoolean(
            MRJobConfig.SHUFFLE_FETCH_RETRY_ENABLED,
            job.getBoolean(
                YarnConfiguration.NM_RECOVERY_ENABLED,
                YarnConfiguration.DEFAULT_NM_RECOVERY_ENABLED));
    retryMs =
        job.getInt(
            MRJobConfig.SHUFFLE_FETCH_RETRY_INTERVAL_MS,
            MRJobConfig.DEFAULT_SHUFFLE_FETCH_RETRY_INTERVAL_MS);
    retryTimeoutMs = job.getInt(MRJobConfig.SHUFFLE_FETCH_RETRY_TIMEOUT_MS, USUAL_TIMEOUT_MS);
    directSegments = reporter.getCounter(MergingShuffle.COUNTERS, "SEGMENTS_DIRECT");
    fetchedSegments = reporter.getCounter(MergingShuffle.COUNTERS, "SEGMENTS_HTTP");
  }

  @Override
  void work() throws IOException, InterruptedException {
    while (!isStopped()) {
      MapHost host = scheduler.getHost();
      try {
        serve(host);
      } finally {
        scheduler.freeHost(host);
      }
    }
  }

  @Override
  void interrupted() {
    server.disconnect();
  }

  private void serve(MapHost host) throws IOException, InterruptedException {
    List<TaskAttemptID> maps = scheduler.getMapsForHost(host);
    Set<TaskAttemptID> left = new LinkedHashSet<>(maps);
    try {
      readDirectly(host, left);
      failingSince = 0;
      while (!left.isEmpty() && !isStopped()) {
        if (!fetch(host, left)) {
          return;
        }
      }
    } finally {
      for (TaskAttemptID map : left) {
        scheduler.putBackKnownMapOutput(host, map);
      }
    }
  }

  private void readDirectly(MapHost host, Set<TaskAttemptID> left) throws IOException {
    List<File> places = direct.directoriesOf(host);
    if (places.isEmpty()) {
      return;
    }
    for (Iterator<TaskAttemptID> maps = left.iterator(); maps.hasNext() && !isStopped(); ) {
      TaskAttemptID map = maps.next();
      long began = Time.monotonicNow();
      Fetched<K, V> output;
      try {
        output = direct.open(map, host, places);
      } catch (IOException | RuntimeException | FSError notAsItShouldBe) {
        // Fetched, it fails again, and Hadoop hears of it.
        LOG.warn("The output of " + map + " cannot be read from here", notAsItShouldBe);
        continue;
      }
      if (output != null) {
        scheduler.copySucceeded(map, host, output.partLength(), began, Time.monotonicNow(), output);
        directSegments.increment(1);
        maps.remove();
      }
    }
  }

  /** Fetches what is left; false where the host is to be left alone for a while. */
  private boolean fetch(MapHost host, Set<TaskAttemptID> left)
      throws IOException, InterruptedException {
    try (DataInputStream in = server.open(host, left, this::isStopped)) {
      while (!left.isEmpty() && !isStopped()) {
        if (!next(host, in, left)) {
          return false;
        }
      }
      return true;
    } catch (MapServer.Busy busy) {
      LOG.info("{} has too many to serve", host);
      Thread.sleep(Math.min(MOST_BACKOFF_MS, busy.backoffMs()));
      return false;
    } catch (Unread lost) {
      // The connection was lost within an output that can be asked for again.
      Thread.sleep(retryMs);
      return true;
    } catch (IOException failure) {
      if (isStopped()) {
        return false;
      }
      count(Errors.IO_ERROR);
      LOG.warn("No connection to " + host + " for " + left.size() + " map outputs", failure);
      scheduler.hostFailed(host.getHostName());
      for (TaskAttemptID map : left) {
        scheduler.copyFailed(map, host, false, failure instanceof ConnectException);
      }
      return false;
    }
  }

  /** Takes the next output of an answer; false where it could not be had. */
  private boolean next(MapHost host, DataInputStream in, Set<TaskAttemptID> left)
      throws IOException {
    TaskAttemptID map = null;
    Fetched<K, V> output = null;
    try {
      long began = Time.monotonicNow();
      MapServer.Announced announced = MapServer.Announced.read(in);
      map = idOf(announced);
      if (map == null || !isExpected(announced, map, left)) {
        // Of an answer that is wrong, nothing can be said of any map.
        failed(host, left, left.contains(map) ? map : null);
        return false;
      }
      try {
        output = place(map, announced.partLength, announced.rawLength);
      } catch (IOException here) {
        // No fault of the map's: this node has no room.
        scheduler.reportLocalError(here);
        return false;
      }
      output.shuffle(host, in, announced.partLength, announced.rawLength, null, reporter);
      failingSince = 0;
      scheduler.copySucceeded(map, host, announced.partLength, began, Time.monotonicNow(), output);
      fetchedSegments.increment(1);
      left.remove(map);
      return true;
    } catch (IOException failure) {
      if (output != null) {
        output.abort();
      }
      if (isStopped()) {
        return false;
      }
      if (retries && mayRetry()) {
        LOG.warn("The output of " + map + " was not read, once more", failure);
        throw new Unread(failure);
      }
      count(Errors.IO_ERROR);
      LOG.warn("The output of " + map + " could not be had from " + host, failure);
      failed(host, left, map);
      return false;
    }
  }

  private TaskAttemptID idOf(MapServer.Announced announced) {
    try {
      return TaskAttemptID.forName(announced.map);
    } catch (IllegalArgumentException bad) {
      count(Errors.BAD_ID);
      LOG.warn("An output of a map with no id: {}", announced.map);
      return null;
    }
  }

  private boolean isExpected(
      MapServer.Announced announced, TaskAttemptID map, Set<TaskAttemptID> left) {
    Errors wrong =
        announced.partLength < 0 || announced.rawLength < 0
            ? Errors.WRONG_LENGTH
            : announced.reduce != reduce
                ? Errors.WRONG_REDUCE
                : left.contains(map) ? null : Errors.WRONG_MAP;
    if (wrong == null) {
      return true;
    }
    count(wrong);
    LOG.warn(
        "{}: the output of {} of {} bytes for reduce {}",
        wrong,
        map,
        announced.partLength,
        announced.reduce);
    return false;
  }

  private Fetched<K, V> place(TaskAttemptID map, long partLength, long rawLength)
      throws IOException {
    if (outputs.reserve(rawLength)) {
      return Fetched.inMemory(outputs, map, partLength, rawLength);
    }
    TaskID id = TaskID.downgrade(map.getTaskID());
    return Fetched.inFile(
        outputs,
        map,
        outputs.file(id, map.getId() + "." + number, partLength),
        0,
        partLength,
        rawLength,
        true);
  }

  /** Tells that {@code map}, or where it is null every map of the answer, could not be had. */
  private void failed(MapHost host, Set<TaskAttemptID> left, TaskAttemptID map) {
    scheduler.hostFailed(host.getHostName());
    for (TaskAttemptID one : left) {
      if (map == null || map.equals(one)) {
        scheduler.copyFailed(one, host, true, false);
      }
    }
  }

  private boolean mayRetry() {
    long now = Time.monotonicNow();
    if (failingSince == 0) {
      failingSince = now;
    }
    return now - failingSince < retryTimeoutMs;
  }

  private void count(Errors error) {
    reporter.getCounter("Shuffle Errors", error.name()).increment(1);
  }

  /** An output was not read to its end, and may be asked for once more. */
  private static final class Unread extends IOException {
    private static final long serialVersionUID = 1;

    Unread(IOException cause) {
      super(cause);
    }
  }
}
