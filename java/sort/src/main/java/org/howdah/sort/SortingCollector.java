package org.howdah.sort;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.QuickSort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map-side sort: set as {@code mapreduce.job.map.output.collector.class}, with Hadoop's own
 * behind it, which serves the jobs that {@link #init} refuses.
 *
 * <p>Hadoop calls {@link #flush} also after a failure, and perhaps twice. Threads of a mapper may
 * collect at once.
 */
public final class SortingCollector<K, V> implements MapOutputCollector<K, V> {
  /** MiB that records may take before they are written to disk. */
  public static final String MEMORY_MB = "howdah.sort.memory.mb";

  /** Group of the counters that say what this collector did. */
  public static final String COUNTERS = "Howdah Sort";

  private static final Logger LOG = LoggerFactory.getLogger(SortingCollector.class);
  private static final double HEAP_SHARE = 0.5;
  private static final int REPORT_RECORDS = 1 << 8;
  // Looking costs as much as some records do.
  private static final int REPORTS_UNTIL_LOOK = 1 << 4;

  private Class<K> keyClass;
  private Class<V> valueClass;
  private int partitions;
  private KeyOrder order;
  private RecordBuffer buffer;
  private FoldTable folded;
  private Serializer<K> keys;
  private Serializer<V> values;
  private TaskReporter reporter;
  private MapOutputFiles<K, V> files;
  private RawComparator<K> comparator;
  private Counters.Counter recordCounter;
  private Counters.Counter byteCounter;
  private Counters.Counter servedCounter;
  private Counters.Counter servedByteCounter;
  private Counters.Counter foldedCounter;
  private int unreported;
  private long unreportedBytes;
  private long unreportedFolds;
  private int reports;
  private boolean ended;
  private Throwable broken;
  private Progress phase;

  /** Throws, having counted why, where the map is to be left to Hadoop's own sort. */
  @Override
  public void init(Context context) throws IOException {
    try {
      start(context);
    } catch (LeftToHadoop refusal) {
      throw counted(refusal, context);
    } catch (Providers.Broken failure) {
      throw counted(
          new LeftToHadoop(LeftToHadoop.Reason.PROVIDER, failure.getMessage(), failure.getCause()),
          context);
    } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError failure) {
      // An error, too: of those, Hadoop would not go on to its own.
      throw counted(
          new LeftToHadoop(LeftToHadoop.Reason.OTHER, "the sort cannot begin: " + failure, failure),
          context);
    }
  }

  private static LeftToHadoop counted(LeftToHadoop refusal, Context context) {
    LOG.warn("A map is left to Hadoop's own sort: {}", refusal.getMessage());
    context.getReporter().getCounter(COUNTERS, "FALLBACKS").increment(1);
    context.getReporter().getCounter(COUNTERS, "FALLBACKS_" + refusal.reason()).increment(1);
    return refusal;
  }

  @SuppressWarnings("unchecked")
  private void start(Context context) throws IOException, ClassNotFoundException {
    JobConf job = context.getJobConf();
    check(job);
    reporter = context.getReporter();
    partitions = job.getNumReduceTasks();
    keyClass = (Class<K>) job.getMapOutputKeyClass();
    valueClass = (Class<V>) job.getMapOutputValueClass();
    comparator = job.getOutputKeyComparator();
    order = KeyOrders.of(keyClass, comparator);
    Fold fold = Folds.of(job);
    long least = least(job);
    long most = most(job, least, context.getMapTask().getTaskID());
    Heap heap = most > least ? new TaskHeap() : Heap.ANY;
    buffer = new RecordBuffer(partitions, least, most, heap, fold != null, this::spill);
    folded = fold == null ? null : new FoldTable(buffer, fold);
    SerializationFactory factory = new SerializationFactory(job);
    keys = factory.getSerializer(keyClass);
    keys.open(buffer.output());
    values = factory.getSerializer(valueClass);
    values.open(buffer.output());
    CombinerRunner<K, V> runner =
        CombinerRunner.create(
            job,
            context.getMapTask().getTaskID(),
            reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS),
            reporter,
            null);
    Combining<K, V> combining = null;
    if (runner != null) {
      Counters.Counter combined = reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS);
      combining = new Combining<>(runner, job, keyClass, valueClass, combined, reporter);
    }
    files =
        new MapOutputFiles<>(
            job, context.getMapTask().getMapOutputFile(), combining, order, comparator, reporter);
    recordCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_RECORDS);
    byteCounter = reporter.getCounter(TaskCounter.MAP_OUTPUT_BYTES);
    servedCounter = reporter.getCounter(COUNTERS, "RECORDS");
    servedByteCounter = reporter.getCounter(COUNTERS, "BYTES");
    if (fold != null) {
      // Jobs may have only so many counters of groups that are not Hadoop's.
      foldedCounter = reporter.getCounter(COUNTERS, "FOLDED");
    }
    phase = context.getMapTask().getSortPhase();
    LOG.info("Keys {} are ordered by {}", keyClass.getName(), order.kind());
  }

  /**
   * What Hadoop's own collector has to see: settings that it refuses, and those that name another
   * way to sort.
   */
  private static void check(JobConf job) throws LeftToHadoop {
    float percent = job.getFloat(MRJobConfig.MAP_SORT_SPILL_PERCENT, 0.8f);
    int megabytes = job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB);
    int limit = job.getInt(MRJobConfig.SPILL_FILES_COUNT_LIMIT, -1);
    if (percent > 1 || percent <= 0 || (megabytes & 0x7FF) != megabytes || limit < -1) {
      throw new LeftToHadoop(LeftToHadoop.Reason.SETTINGS, "settings of the sort are not valid");
    }
    if (job.getClass(MRJobConfig.MAP_SORT_CLASS, QuickSort.class) != QuickSort.class) {
      throw new LeftToHadoop(
          LeftToHadoop.Reason.SORT_CLASS, MRJobConfig.MAP_SORT_CLASS + " names another sort");
    }
    if (job.getNumReduceTasks() > RecordBuffer.MOST_PARTITIONS) {
      throw new LeftToHadoop(
          LeftToHadoop.Reason.PARTITIONS,
          job.getNumReduceTasks() + " reduces are more than " + RecordBuffer.MOST_PARTITIONS);
    }
    if (job.getInt(MEMORY_MB, 1) < 1) {
      throw new LeftToHadoop(
          LeftToHadoop.Reason.SETTINGS,
          MEMORY_MB + " is " + job.get(MEMORY_MB) + ", which is less than 1");
    }
  }

  /**
   * Bytes for records that are taken unasked: what a user says, or as many as Hadoop's own
   * collector takes.
   */
  private static long least(JobConf job) {
    int usual = Math.max(1, job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB));
    return (long) job.getInt(MEMORY_MB, usual) << 20;
  }

  /**
   * Bytes for records where the heap has room for them beside the mapper. An attempt after a failed
   * one does not try whether it has, nor does one that no other may follow.
   */
  static long most(JobConf job, long least, TaskAttemptID attempt) {
    // Each application master numbers its attempts from another thousand on.
    boolean isFirst = attempt.getId() % 1000 == 0 && job.getMaxMapAttempts() > 1;
    // There, several tasks share a heap.
    boolean isAlone =
        !job.getBoolean("mapreduce.task.uberized", false)
            && !MRConfig.LOCAL_FRAMEWORK_NAME.equals(
                job.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME));
    if (job.get(MEMORY_MB) != null || !isFirst || !isAlone) {
      return least;
    }
    return Math.max(least, (long) (Runtime.getRuntime().maxMemory() * HEAP_SHARE));
  }

  @Override
  public synchronized void collect(K key, V value, int partition) throws IOException {
    reporter.progress();
    if (key.getClass() != keyClass) {
      throw mismatch("key", keyClass, key);
    }
    if (value.getClass() != valueClass) {
      throw mismatch("value", valueClass, value);
    }
    if (partition < 0 || partition >= partitions) {
      throw new IOException("Illegal partition for " + key + " (" + partition + ")");
    }
    rethrow();
    if (ended) {
      // Of a thread that the mapper has left behind: nothing would write this record any more.
      throw new IOException("a record came after the end of its map");
    }
    try {
      buffer.begin();
      keys.serialize(key);
      buffer.keyDone();
      values.serialize(value);
    } catch (IOException | RuntimeException | Error failure) {
      // A mapper may go on without this record.
      buffer.drop();
      throw failure;
    }
    try {
      keep(partition);
    } catch (IOException | RuntimeException | Error failure) {
      // It was written: a mapper that goes on would lose it.
      broken = failure;
      throw failure;
    }
  }

  /** Adds the record that has been written, or folds it into another one. */
  private void keep(int partition) throws IOException {
    int bytes = buffer.length();
    unreportedBytes += bytes;
    if (folded != null && folded.fold(partition)) {
      unreportedFolds++;
      buffer.drop();
    } else {
      long prefix = order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength());
      long entry = buffer.add(prefix, partition);
      if (folded != null) {
        folded.put(entry);
      }
    }
    // A mapper may look at these at any time.
    recordCounter.increment(1);
    byteCounter.increment(bytes);
    if (++unreported == REPORT_RECORDS) {
      report();
      if (++reports % REPORTS_UNTIL_LOOK == 0 && buffer.isInTheWay()) {
        LOG.info("The mapper needs memory that was free before");
        spill();
      }
    }
  }

  private void rethrow() throws IOException {
    if (broken != null) {
      throw new IOException("a record could not be kept or spilled: " + broken, broken);
    }
  }

  private static IOException mismatch(String what, Class<?> expected, Object received) {
    return new IOException(
        "Type mismatch in "
            + what
            + " from map: expected "
            + expected.getName()
            + ", received "
            + received.getClass().getName());
  }

  private void report() {
    servedCounter.increment(unreported);
    servedByteCounter.increment(unreportedBytes);
    if (unreportedFolds > 0) {
      foldedCounter.increment(unreportedFolds);
    }
    unreported = 0;
    unreportedBytes = 0;
    unreportedFolds = 0;
  }

  private SortedRecords sorted() {
    return new SortedRecords(buffer, partitions, order, comparator, reporter);
  }

  private void spill() throws IOException {
    try {
      // Not every Java hands the user on to new threads.
      UserGroupInformation user = UserGroupInformation.getCurrentUser();
      PrivilegedExceptionAction<Void> spill =
          () -> {
            files.spill(sorted());
            return null;
          };
      inThreadOfItsOwn(() -> user.doAs(spill));
      buffer.clear();
      if (folded != null) {
        folded.clear();
      }
    } catch (IOException | RuntimeException | Error failure) {
      // The records are in disorder: nothing may be written from them.
      broken = failure;
      throw failure;
    }
  }

  /**
   * Spills as Hadoop's own collector does: the mapper may be in the middle of a record, or of what
   * makes one, with something of its thread's in use (a buffer of the class of its keys, say) that
   * a combiner or comparator in the same thread would use again.
   */
  private static void inThreadOfItsOwn(Callable<Void> work) throws IOException {
    FutureTask<Void> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "spill");
    thread.setDaemon(true);
    thread.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException later) {
          // The records are in its hands until it has ended.
          interrupted = true;
        }
      }
    } catch (ExecutionException failure) {
      Throwable cause = failure.getCause();
      if (cause instanceof Error) {
        throw (Error) cause;
      }
      if (cause instanceof RuntimeException) {
        throw (RuntimeException) cause;
      }
      throw cause instanceof IOException ? (IOException) cause : new IOException(cause);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Writes the output of the map, once; throws if a spill has failed, whatever came after it. */
  @Override
  public synchronized void flush() throws IOException {
    rethrow();
    if (ended) {
      return;
    }
    ended = true;
    report();
    folded = null;
    files.finish(sorted(), phase);
    buffer.release();
    phase.complete();
  }

  @Override
  public void close() {}
}
