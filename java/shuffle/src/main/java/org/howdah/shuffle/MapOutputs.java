package org.howdah.shuffle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.howdah.sort.CodecStreams;
import org.howdah.sort.KeyOrder;
import org.howdah.sort.KeyOrders;
import org.howdah.sort.MergedRecords;
import org.howdah.sort.RecordCursor;
import org.howdah.sort.SegmentWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs that a reduce has, in memory and in files, and their merge. Memory is bounded by
 * the keys that bound Hadoop's: a share of the heap while outputs arrive, and another while the
 * reduce runs.
 */
final class MapOutputs<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);
  // Of open files a task may have some thousand.
  private static final int MOST_FILES = 500;
  private static final int PROGRESS_RECORDS = 1 << 10;
  private static final long BUFFERS = 32L << 20;
  private static final int SHARE_OF_BUFFERS = 16;
  private static final int MOST_BUFFER = 1 << 18;
  private static final int LEAST_BUFFER = 1 << 14;

  private final ShuffleConsumerPlugin.Context<K, V> context;
  private final JobConf job;
  private final FileSystem local;
  private final RawComparator<K> comparator;
  private final KeyOrder order;
  private final Regions regions = Regions.ofThisHeap();
  private final long singleLimit;
  private final List<Fetched<K, V>> outputs = new ArrayList<>();
  private long memoryLimit;
  private long memory;
  private int files;
  private int merges;

  MapOutputs(ShuffleConsumerPlugin.Context<K, V> context) {
    this.context = context;
    job = context.getJobConf();
    context.getMapOutputFile().setConf(job);
    local = ((LocalFileSystem) context.getLocalFS()).getRaw();
    @SuppressWarnings("unchecked")
    RawComparator<K> sorted = job.getOutputKeyComparator();
    comparator = sorted;
    order = KeyOrders.of(job.getMapOutputKeyClass(), comparator);
    float share =
        share(
            MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT,
            MRJobConfig.DEFAULT_SHUFFLE_INPUT_BUFFER_PERCENT);
    memoryLimit = (long) (heap() * share);
    singleLimit =
        Math.min(
            Integer.MAX_VALUE - 8,
            (long) (memoryLimit * share(MRJobConfig.SHUFFLE_MEMORY_LIMIT_PERCENT, 0.25f)));
  }

  private float share(String key, float usual) {
    float share = job.getFloat(key, usual);
    if (share < 0 || share > 1) {
      throw new IllegalArgumentException(key + " is " + share + ", which is no share of 1");
    }
    return share;
  }

  private long heap() {
    return job.getLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, Runtime.getRuntime().maxMemory());
  }

  ShuffleConsumerPlugin.Context<K, V> context() {
    return context;
  }

  FileSystem local() {
    return local;
  }

  /** See {@link Fetched#isPossible}. */
  boolean isPossible(long partLength, long rawLength) {
    return Fetched.isPossible(partLength, rawLength, context.getCodec());
  }

  /**
   * A place for the output of {@code map}, in memory if there is room, otherwise in a file.
   *
   * @throws FetchFailure if no directory of this node has room
   */
  Fetched<K, V> place(TaskAttemptID map, long partLength, long rawLength) throws FetchFailure {
    byte[] bytes = take(rawLength);
    if (bytes != null) {
      return Fetched.inMemory(this, map, bytes, partLength);
    }
    int number;
    synchronized (this) {
      number = files++;
    }
    try {
      TaskID task = TaskID.downgrade(map.getTaskID());
      Path path = file(task, map.getId() + "." + number, partLength);
      return Fetched.inFile(this, map, path, 0, partLength, rawLength, true);
    } catch (IOException full) {
      throw FetchFailure.of(FetchFailure.Kind.LOCAL, full);
    }
  }

  /**
   * An array of {@code bytes}, of the memory for outputs; null where there is not so much. An empty
   * output always has room: in memory it is known to be empty.
   */
  byte[] take(long bytes) {
    if (!reserve(bytes)) {
      return null;
    }
    try {
      return new byte[(int) bytes];
    } catch (OutOfMemoryError full) {
      refused(bytes);
      return null;
    }
  }

  private synchronized boolean reserve(long bytes) {
    long taken = regions.taken(bytes);
    if (bytes > Fetched.EMPTY && (bytes > singleLimit || memory + taken > memoryLimit)) {
      return false;
    }
    memory += taken;
    return true;
  }

  /** The heap has less for outputs than its share: what they have now is the most from now on. */
  private synchronized void refused(long bytes) {
    release(bytes);
    memoryLimit = Math.min(memoryLimit, memory);
    LOG.warn("The heap has no room for {} bytes more: map outputs go to disk", bytes);
  }

  /** Gives back what {@link #take} gave. */
  synchronized void release(long bytes) {
    memory -= regions.taken(bytes);
  }

  synchronized void add(Fetched<K, V> output) {
    outputs.add(output);
  }

  /**
   * A new file of this attempt, for the output of {@code map} or a merge, of {@code bytes} about.
   */
  Path file(TaskID map, String name, long bytes) throws IOException {
    return context.getMapOutputFile().getInputFileForWrite(map, bytes).suffix("." + name);
  }

  /** All records in order. Called once, when every output is there. */
  MergedRecords merged() throws IOException {
    List<Fetched<K, V>> left;
    synchronized (this) {
      left = new ArrayList<>(outputs);
      outputs.clear();
    }
    // Those in memory have been seen to be the mark of the end.
    left.removeIf(output -> output.isInMemory() && output.rawLength() == Fetched.EMPTY);
    keepInMemory(left, (long) (memoryLimit * share(MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT, 0)));
    int most = mostFiles();
    while (files(left).size() > most) {
      List<Fetched<K, V>> files = files(left);
      files.sort(Comparator.comparingLong(Fetched::rawLength));
      replace(left, files.subList(0, Math.min(most, files.size() - most + 1)));
    }
    long memoryBytes = 0;
    for (Fetched<K, V> output : left) {
      memoryBytes += output.isInMemory() ? output.rawLength() : 0;
    }
    LOG.info(
        "Merging {} map outputs, {} of their bytes in memory; keys are ordered by {}",
        left.size(),
        memoryBytes,
        order.kind());
    MergedRecords merged = merge(left);
    if (!job.getUseNewReducer()) {
      merged.copyEach();
    }
    return merged;
  }

  /**
   * How many files are open at once in a merge. Of compressed ones, so many as Hadoop would open,
   * or as fit in a share of the heap.
   */
  private int mostFiles() {
    CompressionCodec codec = context.getCodec();
    if (codec == null) {
      return MOST_FILES;
    }
    int factor = job.getInt(MRJobConfig.IO_SORT_FACTOR, MRJobConfig.DEFAULT_IO_SORT_FACTOR);
    int most = Math.max(factor, CodecStreams.fitting(codec, heap()));
    return Math.max(2, Math.min(CodecStreams.MOST, most));
  }

  /**
   * Has outputs leave memory, the largest first, until {@code most} bytes are left: to the files
   * that they were read from, as far as these can be open at once, the others merged to one.
   */
  private void keepInMemory(List<Fetched<K, V>> left, long most) throws IOException {
    List<Fetched<K, V>> held = new ArrayList<>(left);
    held.removeIf(output -> !output.isInMemory());
    held.sort(Comparator.comparingLong(Fetched::rawLength));
    long bytes = 0;
    int kept = 0;
    while (kept < held.size() && (bytes += regions.taken(held.get(kept).rawLength())) <= most) {
      kept++;
    }
    // One more is what the others are merged to.
    int room = mostFiles() - files(left).size() - 1;
    List<Fetched<K, V>> merging = new ArrayList<>();
    for (int next = held.size() - 1; next >= kept; next--) {
      if (room > 0 && held.get(next).leaveMemory()) {
        room--;
      } else {
        merging.add(held.get(next));
      }
    }
    if (!merging.isEmpty()) {
      replace(left, merging);
    }
  }

  private static <K, V> List<Fetched<K, V>> files(List<Fetched<K, V>> outputs) {
    List<Fetched<K, V>> files = new ArrayList<>(outputs);
    files.removeIf(Fetched::isInMemory);
    return files;
  }

  private void replace(List<Fetched<K, V>> outputs, List<Fetched<K, V>> some) throws IOException {
    List<Fetched<K, V>> merging = new ArrayList<>(some);
    long bytes = 0;
    for (Fetched<K, V> output : merging) {
      bytes += output.isInMemory() ? output.rawLength() : output.partLength();
    }
    TaskID reduce = TaskID.downgrade(context.getReduceId().getTaskID());
    Path path = file(reduce, "merge" + merges++, bytes);
    MergedRecords merged = merge(merging);
    SegmentWriter writer;
    try (FSDataOutputStream file = local.create(path, true, 4096)) {
      writer = new SegmentWriter(file, context.getCodec(), new byte[SegmentWriter.BUFFER_BYTES]);
      while (merged.next()) {
        writer.append(merged.current());
        if (merged.records() % PROGRESS_RECORDS == 0) {
          context.getMergePhase().set(merged.getProgress().get());
        }
      }
      writer.finish();
    }
    context.getSpilledRecordsCounter().increment(writer.records());
    context.getMergedMapOutputsCounter().increment(merging.size());
    for (Fetched<K, V> output : merging) {
      output.free();
    }
    outputs.removeAll(new HashSet<>(merging));
    outputs.add(
        Fetched.inFile(
            this, context.getReduceId(), path, 0, writer.partLength(), writer.rawLength(), true));
  }

  private MergedRecords merge(List<Fetched<K, V>> some) throws IOException {
    long buffers = Math.min(BUFFERS, heap() / SHARE_OF_BUFFERS) / Math.max(1, files(some).size());
    int buffer = (int) Math.max(LEAST_BUFFER, Math.min(MOST_BUFFER, buffers));
    List<RecordCursor> cursors = new ArrayList<>();
    long bytes = 0;
    for (Fetched<K, V> output : some) {
      cursors.add(output.cursor(buffer));
      bytes += output.rawLength();
    }
    return new MergedRecords(cursors, order, comparator, bytes, context.getReporter());
  }
}
