package org.howdah.shuffle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.howdah.sort.MergedRecords;
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

  private final String node;
  private Context<K, V> context;
  private Shuffle<K, V> stock;
  private ShuffleSchedulerImpl<K, V> scheduler;
  private MapOutputs<K, V> outputs;
  private MergedRecords merged;
  private Throwable failure;

  /** Made by Hadoop, in a container. */
  public MergingShuffle() {
    this(System.getenv(ApplicationConstants.Environment.NM_HOST.name()));
  }

  /** {@code node} is the host name of the NodeManager whose files can be read from here. */
  MergingShuffle(String node) {
    this.node = node;
  }

  @Override
  public void init(Context<K, V> given) {
    context = given;
    String reason = refusal();
    if (reason != null) {
      LOG.info("Hadoop's own shuffle serves this reduce: {}", reason);
      counter("FALLBACKS").increment(1);
      stock = new Shuffle<>();
      stock.init(context);
      return;
    }
    scheduler =
        new ShuffleSchedulerImpl<>(
            context.getJobConf(),
            context.getStatus(),
            context.getReduceId(),
            this,
            context.getCopyPhase(),
            context.getShuffledMapsCounter(),
            context.getReduceShuffleBytes(),
            context.getFailedShuffleCounter());
    outputs = new MapOutputs<>(context);
  }

  /** Why this reduce is left to Hadoop's shuffle, or null. */
  private String refusal() {
    JobConf job = context.getJobConf();
    if (context.getLocalMapFiles() != null) {
      return "its maps ran in this process";
    }
    if (job.getBoolean(MRJobConfig.MR_ENCRYPTED_INTERMEDIATE_DATA, false)) {
      return "intermediate data is encrypted";
    }
    if (job.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT)) {
      return "map outputs are served over TLS";
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
    List<Worker> workers = new ArrayList<>();
    workers.add(new MapEvents(context, scheduler, this));
    JobConf job = context.getJobConf();
    int copies = Math.max(1, job.getInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, 5));
    for (int number = 0; number < Math.min(copies, Math.max(1, job.getNumMapTasks())); number++) {
      workers.add(new Fetcher<>(number, context, scheduler, outputs, node, this));
    }
    try {
      for (Worker worker : workers) {
        worker.start();
      }
      while (!scheduler.waitUntilDone(WAIT_MS)) {
        reporter.progress();
        rethrow();
      }
    } finally {
      for (Worker worker : workers) {
        worker.end();
      }
      scheduler.close();
    }
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
    rethrow();
    merged = outputs.merged();
    return merged;
  }

  /** Asked only after the reduce has succeeded. */
  @Override
  public void close() {
    if (stock != null) {
      stock.close();
      return;
    }
    counter("RECORDS").increment(merged.records());
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
      throw new IOException("error in shuffle: " + failure.getMessage(), failure);
    }
  }
}
