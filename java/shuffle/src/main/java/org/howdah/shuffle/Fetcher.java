package org.howdah.shuffle;

import java.io.IOException;
import java.net.ConnectException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
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
 * Gets the outputs of the maps of one host after the other, by its transports, and tells Hadoop's
 * scheduler how that went.
 */
final class Fetcher<K, V> extends Worker {
  private static final Logger LOG = LoggerFactory.getLogger(Fetcher.class);
  private static final long MOST_BACKOFF_MS = 10_000;
  // A host that does not answer is asked so many times between two notices.
  private static final int ATTEMPTS = 5;

  private final Fetchers fetchers;
  private final ShuffleSchedulerImpl<K, V> scheduler;
  private final List<Transport<K, V>> transports;
  private final EarlyNotices notices;
  private final Reporter reporter;
  private final boolean retries;
  private final int connectTimeoutMs;
  private final int retryMs;
  private final int retryTimeoutMs;
  private final Counters.Counter bytes;

  // Of the host that is being served: since when it is silent, and since when outputs of it fail.
  private long silentSince;
  private long failingSince;
  private boolean isAway;

  Fetcher(
      int number,
      Fetchers fetchers,
      ShuffleConsumerPlugin.Context<K, V> context,
      ShuffleSchedulerImpl<K, V> scheduler,
      List<Transport<K, V>> transports,
      EarlyNotices notices,
      ExceptionReporter failed) {
    super("fetcher " + number, failed);
    this.fetchers = fetchers;
    this.scheduler = scheduler;
    this.transports = transports;
    this.notices = notices;
    reporter = context.getReporter();
    JobConf job = context.getJobConf();
    retries = retries(job);
    connectTimeoutMs = job.getInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, MapServer.USUAL_TIMEOUT_MS);
    retryMs =
        job.getInt(
            MRJobConfig.SHUFFLE_FETCH_RETRY_INTERVAL_MS,
            MRJobConfig.DEFAULT_SHUFFLE_FETCH_RETRY_INTERVAL_MS);
    retryTimeoutMs =
        job.getInt(MRJobConfig.SHUFFLE_FETCH_RETRY_TIMEOUT_MS, MapServer.USUAL_TIMEOUT_MS);
    bytes = reporter.getCounter(MergingShuffle.COUNTERS, "BYTES");
    for (Transport<K, V> transport : transports) {
      // By which none came is said as well.
      segments(transport);
    }
    for (FetchFailure.Errors error : FetchFailure.Errors.values()) {
      errors(error);
    }
  }

  /** Whether an output that was not read to its end is asked for again before that is a failure. */
  static boolean retries(JobConf job) {
    return job.getBoolean(
        MRJobConfig.SHUFFLE_FETCH_RETRY_ENABLED,
        job.getBoolean(
            YarnConfiguration.NM_RECOVERY_ENABLED, YarnConfiguration.DEFAULT_NM_RECOVERY_ENABLED));
  }

  @Override
  void work() throws InterruptedException {
    while (!isStopped() && !fetchers.isOver(this)) {
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
    for (Transport<K, V> transport : transports) {
      transport.disconnect();
    }
  }

  private void serve(MapHost host) throws InterruptedException {
    silentSince = 0;
    failingSince = 0;
    try {
      boolean again = true;
      while (again && !isStopped()) {
        // Of maps that were put back, those that have become obsolete do not come again.
        Set<TaskAttemptID> left = new LinkedHashSet<>(scheduler.getMapsForHost(host));
        try {
          again = !left.isEmpty() && fetch(host, left);
        } finally {
          for (TaskAttemptID map : left) {
            scheduler.putBackKnownMapOutput(host, map);
          }
        }
      }
    } finally {
      if (isAway) {
        isAway = false;
        fetchers.back();
      }
    }
  }

  /** Whether the host is to be asked again at once for what is {@code left}. */
  private boolean fetch(MapHost host, Set<TaskAttemptID> left) throws InterruptedException {
    for (int at = 0; at < transports.size() && !left.isEmpty() && !isStopped(); at++) {
      Transport<K, V> transport = transports.get(at);
      long asked = Time.monotonicNow();
      try {
        transport.fetch(host, new LinkedHashSet<>(left), new Taking(transport, host, left));
      } catch (FetchFailure failure) {
        if (isStopped()) {
          return false;
        }
        if (isLast(transport)) {
          return isAskedAgain(failure, host, left, asked);
        }
        LOG.warn(host + " does not serve by " + transport.name(), failure);
      }
    }
    return false;
  }

  private boolean isAskedAgain(
      FetchFailure failure, MapHost host, Set<TaskAttemptID> left, long asked)
      throws InterruptedException {
    if (failure.kind() == FetchFailure.Kind.UNANSWERED) {
      return isAwaited(failure, host, left, asked);
    }
    silentSince = 0;
    switch (failure.kind()) {
      case BUSY:
        LOG.info("{} has too many to serve", host);
        setAway();
        Thread.sleep(Math.min(MOST_BACKOFF_MS, failure.backoffMs()));
        return false;
      case LOCAL:
        scheduler.reportLocalError(failure);
        return false;
      case REFUSED:
        noConnection(failure, host, left);
        return false;
      case UNREAD:
        if (retries && mayRetry()) {
          LOG.warn("The output of " + failure.map() + " was not read, once more", failure);
          Thread.sleep(retryMs);
          return true;
        }
        break;
      default:
        break;
    }
    errors(failure.error()).increment(1);
    LOG.warn("The output of " + failure.map() + " could not be had from " + host, failure);
    scheduler.hostFailed(host.getHostName());
    for (TaskAttemptID one : left) {
      if (failure.map() == null || failure.map().equals(one)) {
        scheduler.copyFailed(one, host, true, false);
      }
    }
    return false;
  }

  /** Waits for a host that may be coming back, as long as Hadoop does: only then it has failed. */
  private boolean isAwaited(FetchFailure failure, MapHost host, Set<TaskAttemptID> left, long asked)
      throws InterruptedException {
    if (silentSince == 0) {
      silentSince = asked;
      LOG.info("{} does not answer: {}", host, failure.getMessage());
    }
    long silentMs = Time.monotonicNow() - silentSince;
    if (silentMs >= connectTimeoutMs) {
      noConnection(failure, host, left);
      return false;
    }
    setAway();
    // Hadoop adds to the same list under this lock.
    synchronized (scheduler) {
      notices.silent(left, silentMs);
    }
    Thread.sleep(Math.min(notices.everyMs() / ATTEMPTS, connectTimeoutMs - silentMs));
    return true;
  }

  private void setAway() {
    if (!isAway) {
      isAway = true;
      fetchers.away();
    }
  }

  private void noConnection(FetchFailure failure, MapHost host, Set<TaskAttemptID> left) {
    errors(failure.error()).increment(1);
    LOG.warn("No connection to " + host + " for " + left.size() + " map outputs", failure);
    scheduler.hostFailed(host.getHostName());
    for (TaskAttemptID map : left) {
      scheduler.copyFailed(map, host, false, failure.getCause() instanceof ConnectException);
    }
  }

  private boolean mayRetry() {
    long now = Time.monotonicNow();
    if (failingSince == 0) {
      failingSince = now;
    }
    return now - failingSince < retryTimeoutMs;
  }

  /** Whether nobody is asked for what it leaves. */
  private boolean isLast(Transport<K, V> transport) {
    return transport == transports.get(transports.size() - 1);
  }

  private Counters.Counter errors(FetchFailure.Errors error) {
    return reporter.getCounter("Shuffle Errors", error.name());
  }

  private Counters.Counter segments(Transport<K, V> transport) {
    return reporter.getCounter(MergingShuffle.COUNTERS, "SEGMENTS_" + transport.name());
  }

  /** Takes the outputs of one host that come by one transport. */
  private final class Taking implements Transport.Receiver<K, V> {
    private final Transport<K, V> transport;
    private final MapHost host;
    private final Set<TaskAttemptID> left;

    Taking(Transport<K, V> transport, MapHost host, Set<TaskAttemptID> left) {
      this.transport = transport;
      this.host = host;
      this.left = left;
    }

    @Override
    public boolean wantsMore() {
      return !isStopped();
    }

    @Override
    public void receive(Fetched<K, V> output, long beganMs) throws IOException {
      TaskAttemptID map = output.getMapId();
      if (isLast(transport)) {
        // What came by another says nothing of why this one fails.
        silentSince = 0;
        failingSince = 0;
      }
      scheduler.copySucceeded(map, host, output.partLength(), beganMs, Time.monotonicNow(), output);
      left.remove(map);
      if (output.isCommitted()) {
        bytes.increment(output.partLength());
        segments(transport).increment(1);
      }
    }
  }
}
