package org.howdah.shuffle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.util.Progress;
import org.howdah.sort.SegmentWriter;

/** What the tests of a shuffle need: outputs of maps, and a reduce that wants them. */
final class Segments {
  /** A reporter that keeps its counters. */
  static final class Counting implements Reporter {
    private final Counters all = new Counters();
    volatile Runnable onProgress = () -> {};

    @Override
    public void setStatus(String status) {}

    @Override
    public synchronized Counters.Counter getCounter(Enum<?> name) {
      return all.findCounter(name);
    }

    @Override
    public synchronized Counters.Counter getCounter(String group, String name) {
      return all.findCounter(group, name);
    }

    @Override
    public void incrCounter(Enum<?> key, long amount) {
      getCounter(key).increment(amount);
    }

    @Override
    public void incrCounter(String group, String counter, long amount) {
      getCounter(group, counter).increment(amount);
    }

    @Override
    public org.apache.hadoop.mapred.InputSplit getInputSplit() {
      throw new UnsupportedOperationException();
    }

    @Override
    public float getProgress() {
      return 0;
    }

    @Override
    public void progress() {
      onProgress.run();
    }

    /** Those of a group that there are. */
    synchronized List<String> names(String group) {
      List<String> names = new ArrayList<>();
      all.getGroup(group).forEach(counter -> names.add(counter.getName()));
      return names;
    }

    long of(String group, String name) {
      return getCounter(group, name).getValue();
    }
  }

  /** What a reduce tells of itself: here, the maps whose outputs it could not have. */
  static final class Status extends TaskStatus {
    final List<TaskAttemptID> failedMaps = new CopyOnWriteArrayList<>();

    @Override
    public boolean getIsMap() {
      return false;
    }

    @Override
    public void addFetchFailedMap(TaskAttemptID map) {
      failedMaps.add(map);
    }
  }

  private Segments() {}

  static TaskAttemptID map(int number) {
    return map(number, 0);
  }

  static TaskAttemptID map(int number, int attempt) {
    return TaskAttemptID.forName(String.format("attempt_1_0001_m_%06d_%d", number, attempt));
  }

  static TaskAttemptID reduce(int attempt) {
    return TaskAttemptID.forName("attempt_1_0001_r_000000_" + attempt);
  }

  /** Sorted keys, the same ones for the same seed. */
  static List<String> keys(int seed, int count) {
    Random random = new Random(seed);
    List<String> keys = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      keys.add("key" + random.nextInt(1000) + "." + seed);
    }
    keys.sort(null);
    return keys;
  }

  static SegmentWriter write(FSDataOutputStream file, List<String> keys, CompressionCodec codec)
      throws IOException {
    SegmentWriter writer = new SegmentWriter(file, codec, new byte[SegmentWriter.BUFFER_BYTES]);
    DataOutputBuffer record = new DataOutputBuffer();
    for (String key : keys) {
      record.reset();
      new Text(key).write(record);
      int keyLength = record.getLength();
      new Text(key + "!").write(record);
      writer.append(record.getData(), 0, keyLength, record.getLength() - keyLength);
    }
    writer.finish();
    return writer;
  }

  static byte[] bytes(List<String> keys, CompressionCodec codec) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FSDataOutputStream file = new FSDataOutputStream(bytes, null)) {
      write(file, keys, codec);
    }
    return bytes.toByteArray();
  }

  static long rawLength(List<String> keys) throws IOException {
    return bytes(keys, null).length - 4;
  }

  static List<String> read(RawKeyValueIterator records) throws IOException {
    List<String> found = new ArrayList<>();
    while (records.next()) {
      Text key = new Text();
      key.readFields(records.getKey());
      Text value = new Text();
      value.readFields(records.getValue());
      if (!value.toString().equals(key + "!")) {
        throw new IOException("the value of " + key + " is " + value);
      }
      found.add(new String(key.getBytes(), 0, key.getLength(), StandardCharsets.UTF_8));
    }
    return found;
  }

  static JobConf job(java.nio.file.Path directory, int maps) {
    JobConf job = new JobConf();
    job.set("mapreduce.cluster.local.dir", directory.toString());
    job.setNumMapTasks(maps);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    return job;
  }

  static <K, V> ShuffleConsumerPlugin.Context<K, V> context(
      JobConf job,
      Reporter reporter,
      CompressionCodec codec,
      TaskUmbilicalProtocol umbilical,
      TaskStatus status)
      throws IOException {
    return context(reduce(0), job, reporter, codec, umbilical, status, null);
  }

  static <K, V> ShuffleConsumerPlugin.Context<K, V> context(
      TaskAttemptID reduce,
      JobConf job,
      Reporter reporter,
      CompressionCodec codec,
      TaskUmbilicalProtocol umbilical,
      TaskStatus status,
      Map<TaskAttemptID, MapOutputFile> localMaps)
      throws IOException {
    ReduceTask task = new ReduceTask("none", reduce, 0, job.getNumMapTasks(), 1);
    task.setConf(job);
    task.setShuffleSecret(new javax.crypto.spec.SecretKeySpec(new byte[20], "HmacSHA1"));
    Counters counters = new Counters();
    MROutputFiles files = new MROutputFiles();
    files.setConf(job);
    return new ShuffleConsumerPlugin.Context<>(
        reduce,
        job,
        FileSystem.getLocal(job),
        umbilical,
        new org.apache.hadoop.fs.LocalDirAllocator("mapreduce.cluster.local.dir"),
        reporter,
        codec,
        null,
        null,
        counters.findCounter("test", "spilled"),
        counters.findCounter("test", "combined"),
        counters.findCounter("test", "maps"),
        counters.findCounter("test", "bytes"),
        counters.findCounter("test", "failed"),
        counters.findCounter("test", "merged"),
        status,
        new Progress(),
        new Progress(),
        task,
        files,
        localMaps);
  }

  static Path file(java.nio.file.Path directory, String name, byte[] content) throws IOException {
    java.nio.file.Path path = directory.resolve(name);
    java.nio.file.Files.createDirectories(path.getParent());
    java.nio.file.Files.write(path, content);
    return new Path(path.toUri());
  }

  /** An output of these bytes, with a checksum that is right. */
  static byte[] summed(byte... content) {
    CRC32 sum = new CRC32();
    sum.update(content, 0, content.length);
    return ByteBuffer.allocate(content.length + 4)
        .put(content)
        .putInt((int) sum.getValue())
        .array();
  }

  static byte[] changed(byte[] segment, int at) {
    byte[] changed = Arrays.copyOf(segment, segment.length);
    changed[at] ^= 1;
    return changed;
  }
}
