package org.howdah.shuffle;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.howdah.sort.MergedRecords;
import org.howdah.sort.Providers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reduce-side shuffle: set as {@code mapreduce.job.reduce.shuffle.consumer.plugin.class}. What
 * it cannot serve, Hadoop's own does, from the beginning. Which maps are there, which failed and
 * when to give up is Hadoop's scheduler's to know, here as there.
 */
public final class MergingShuffle<K, V> implements ShuffleConsumerPlugin<K, V>, ExceptionReporter {
  /** Group of the counters that say what this shuffle did. */
  public static final String COUNTERS = "Howdah Shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(MergingShuffle.class);
  private static final int WAIT_MS = 2000;
  private static final long NOTICE_MS = 15_000;

  private final String node;
  private final long noticeMs;
  private Context<K, V> context;
  private Shuffle<K, V> stock;
  private ShuffleSchedulerImpl<K, V> scheduler;
  private MapOutputs<K, V> outputs;
  private MergedRecords merged;
  private Counters.Counter records;
  private Tls tls;
  private Throwable failure;

  /** Made by Hadoop, in a container. */
  public MergingShuffle() {
    this(System.getenv(ApplicationConstants.Environment.NM_HOST.name()), NOTICE_MS);
  }

  /**
   * {@code node} is the host name of the NodeManager whose files can be read from here, {@code
   * noticeMs} how long a host is silent before the application master hears of it.
   */
  MergingShuffle(String node, long noticeMs) {
    this.node = node;
    this.noticeMs = noticeMs;
  }

  /** Why a reduce is left to Hadoop's shuffle. */
  private enum Refusal {
    LOCAL("its maps ran in this process"),
    ENCRYPTED("intermediate data is encrypted"),
    PROVIDER("a provider of key orders is broken"),
    OTHER("the classes of this Hadoop are others");

    private final String reason;

    Refusal(String reason) {
      this.reason = reason;
    }
  }

  @Override
  public void init(Context<K, V> given) {
    context = given;
    Refusal refusal = refusal();
    if (refusal == null) {
      try {
        outputs = new MapOutputs<>(context);
        scheduler = scheduler();
        // Now: where a job has all the counters that it may have, it is told before its reducer
        // runs.
        records = counter("RECORDS");
      } catch (Providers.Broken broken) {
        LOG.warn("Keys cannot be ordered", broken);
        refusal = Refusal.PROVIDER;
      } catch (LinkageError different) {
        LOG.warn("Written for another Hadoop", different);
        refusal = Refusal.OTHER;
      }
    }
    if (refusal != null) {
      LOG.info("Hadoop's own shuffle serves this reduce: {}", refusal.reason);
      counter("FALLBACKS").increment(1);
      counter("FALLBACKS_" + refusal).increment(1);
      stock = new Shuffle<>();
      stock.init(context);
    }
  }

  private ShuffleSchedulerImpl<K, V> scheduler() {
    return new ShuffleSchedulerImpl<>(
        context.getJobConf(),
        context.getStatus(),
        context.getReduceId(),
        this,
        context.getCopyPhase(),
        context.getShuffledMapsCounter(),
        context.getReduceShuffleBytes(),
        context.getFailedShuffleCounter());
  }

  /** Why this reduce is left to Hadoop's shuffle, or null. */
  private Refusal refusal() {
    JobConf job = context.getJobConf();
    if (context.getLocalMapFiles() != null) {
      return Refusal.LOCAL;
    }
    if (job.getBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, false)) {
      return Refusal.ENCRYPTED;
    }
    return null;
  }

  private Counters.Counter counter(String name) {
    return context.getReporter().getCounter(COUNTERS, name);
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    if (stock != null) {
      return stock.run();
    }
    Reporter reporter = context.getReporter();
    tls = Tls.of(context.getJobConf());
    Worker events = new MapEvents(context, scheduler, this);
    Fetchers fetchers = fetchers();
    try {
      events.start();
      fetchers.start();
      while (!scheduler.waitUntilDone(WAIT_MS)) {
        reporter.progress();
        rethrow();
      }
    } finally {
      end(events, fetchers);
    }
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
    rethrow();
    merged = outputs.merged();
    return merged;
  }

  private Fetchers fetchers() {
    JobConf job = context.getJobConf();
    int copies = Math.max(1, job.getInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, 5));
    EarlyNotices notices = new EarlyNotices(context, Fetcher.retries(job), noticeMs);
    return new Fetchers(
        Math.min(copies, Math.max(1, job.getNumMapTasks())),
        (number, all) ->
            new Fetcher<>(number, all, context, scheduler, transports(), notices, this));
  }

  /** The ways to map outputs, the best first. */
  private List<Transport<K, V>> transports() {
    return Arrays.asList(new DirectOutputs<>(outputs, node), new HttpOutputs<>(outputs, tls));
  }

  /** Ends all threads, however it is ended itself. */
  private void end(Worker events, Fetchers fetchers) throws InterruptedException {
    List<Worker> workers = new ArrayList<>(fetchers.end());
    workers.add(events);
    for (Worker worker : workers) {
      worker.stop();
    }
    try {
      for (Worker worker : workers) {
        worker.join();
      }
    } finally {
      scheduler.close();
      if (tls != null) {
        tls.close();
      }
    }
  }

  /** Asked only after the reduce has succeeded. */
  @Override
  public void close() {
    if (stock != null) {
      stock.close();
      return;
    }
    records.increment(merged.records());
    try {
      merged.rethrow();
    } catch (IOException swallowed) {
      throw new UncheckedIOException("a reduce went on after its input had failed", swallowed);
    }
    try {
      merged.close();
    } catch (IOException late) {
      LOG.warn("A map output could not be closed", late);
    }
  }

  @Override
  public void reportException(Throwable reported) {
    synchronized (this) {
      if (failure == null) {
        failure = reported;
      }
    }
    synchronized (scheduler) {
      scheduler.notifyAll();
    }
  }

  private synchronized void rethrow() throws IOException {
    if (failure != null) {
      throw new IOException("error in shuffle: " + failure, failure);
    }
  }
}
