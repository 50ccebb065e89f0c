package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Maps with so many spills, or partitions, that not all of their files are merged at once. */
class ManySpillsTest {
  private static final String COLLECTOR = "test.collector";
  private static final String PARTITIONS = "test.partitions";
  private static final String BYTES = "test.value.bytes";

  /** What {@link Looking} found in each partition of the last map's output. */
  private static List<Long> found;

  @TempDir Path directory;

  /** Few keys, with values of which the first eight bytes are a number. */
  public static class Filled extends Mapper<LongWritable, Text, Text, Number> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = new Random(7);
      int bytes = context.getConfiguration().getInt(BYTES, 0);
      for (int number = 0; number < context.getConfiguration().getInt(Jobs.RECORDS, 0); number++) {
        context.write(
            new Text("key" + random.nextInt(50_000)), new Number(random.nextInt(), bytes));
      }
    }
  }

  /** A number that takes as much room as is wanted. */
  public static class Number extends LongWritable {
    private int bytes;

    public Number() {}

    Number(long number, int bytes) {
      super(number);
      this.bytes = bytes;
    }

    @Override
    public void write(java.io.DataOutput out) throws IOException {
      super.write(out);
      out.writeInt(bytes);
      out.write(new byte[bytes]);
    }

    @Override
    public void readFields(java.io.DataInput in) throws IOException {
      super.readFields(in);
      bytes = in.readInt();
      in.skipBytes(bytes);
    }
  }

  /** Adds up, for every group. */
  public static class Sum extends Reducer<Text, Number, Text, Number> {
    @Override
    protected void reduce(Text key, Iterable<Number> values, Context context)
        throws IOException, InterruptedException {
      long sum = 0;
      int bytes = 0;
      for (Number value : values) {
        sum += value.get();
        bytes = value.bytes;
      }
      context.write(key, new Number(sum, bytes));
    }
  }

  /** Stops after the first group. */
  public static class Hasty extends Sum {
    @Override
    public void run(Context context) throws IOException, InterruptedException {
      if (context.nextKey()) {
        reduce(context.getCurrentKey(), context.getValues(), context);
      }
    }
  }

  /**
   * Another collector with partitions of its own, by the keys' hashes; then looks at all of them as
   * Hadoop's own reader shows them.
   */
  public static class Looking implements MapOutputCollector<Text, Number> {
    private MapOutputCollector<Text, Number> real;
    private JobConf job;
    private MapTask task;

    @Override
    @SuppressWarnings("unchecked")
    public void init(Context context) throws IOException, ClassNotFoundException {
      job = new JobConf(context.getJobConf());
      task = context.getMapTask();
      job.setNumReduceTasks(job.getInt(PARTITIONS, 1));
      Class<?> type = job.getClass(COLLECTOR, null);
      real = (MapOutputCollector<Text, Number>) ReflectionUtils.newInstance(type, job);
      real.init(new Context(task, job, context.getReporter()));
    }

    @Override
    public void collect(Text key, Number value, int partition)
        throws IOException, InterruptedException {
      real.collect(key, value, (key.hashCode() & Integer.MAX_VALUE) % job.getNumReduceTasks());
    }

    @Override
    public void flush() throws IOException, InterruptedException, ClassNotFoundException {
      real.flush();
      found = new ArrayList<>();
      FileSystem local = FileSystem.getLocal(job).getRaw();
      SpillRecord index = new SpillRecord(task.getMapOutputFile().getOutputIndexFile(), job);
      assertThat(index.size()).isEqualTo(job.getNumReduceTasks());
      CompressionCodec codec =
          job.getCompressMapOutput()
              ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(null), job)
              : null;
      for (int partition = 0; partition < index.size(); partition++) {
        IndexRecord part = index.getIndex(partition);
        FSDataInputStream file = local.open(task.getMapOutputFile().getOutputFile());
        file.seek(part.startOffset);
        IFile.Reader<Text, Number> records =
            new IFile.Reader<>(job, file, part.partLength, codec, null);
        found.add(look(records));
        records.close();
      }
    }

    /** A number that is the same for the same sums of the same keys, however they were combined. */
    private static long look(IFile.Reader<Text, Number> records) throws IOException {
      DataInputBuffer key = new DataInputBuffer();
      DataInputBuffer value = new DataInputBuffer();
      WritableComparator order = WritableComparator.get(Text.class);
      byte[] last = {0};
      long sum = 0;
      while (records.nextRawKey(key)) {
        records.nextRawValue(value);
        byte[] now =
            java.util.Arrays.copyOfRange(key.getData(), key.getPosition(), key.getLength());
        assertThat(order.compare(last, 0, last.length, now, 0, now.length)).isLessThanOrEqualTo(0);
        last = now;
        sum += value.readLong() * (java.util.Arrays.hashCode(now) * 0x9E3779B97F4A7C15L | 1);
      }
      return sum;
    }

    @Override
    public void close() throws IOException, InterruptedException {
      real.close();
    }
  }

  private Jobs run(Class<?> collector, int partitions, int records, int bytes, Jobs.Setting setting)
      throws Exception {
    Jobs jobs = new Jobs(Files.createDirectory(directory.resolve(collector.getSimpleName())));
    jobs.run(
        "map",
        Looking.class.getName(),
        1,
        1,
        job -> {
          job.setMapperClass(Filled.class);
          job.setMapOutputValueClass(Number.class);
          job.setReducerClass(Reducer.class);
          job.getConfiguration().setClass(COLLECTOR, collector, MapOutputCollector.class);
          job.getConfiguration().setInt(PARTITIONS, partitions);
          job.getConfiguration().setInt(Jobs.RECORDS, records);
          job.getConfiguration().setInt(BYTES, bytes);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
          setting.apply(job);
        });
    return jobs;
  }

  /** Runs both; returns what ours counted. */
  private Jobs same(int partitions, int records, int bytes, Jobs.Setting setting) throws Exception {
    run(MapTask.MapOutputBuffer.class, partitions, records, bytes, setting);
    List<Long> stock = found;
    Jobs ours = run(SortingCollector.class, partitions, records, bytes, setting);
    assertThat(found).isEqualTo(stock);
    try (Stream<Path> files = Files.walk(directory)) {
      assertThat(
              files
                  .filter(file -> file.getFileName().toString().startsWith("spill"))
                  .collect(Collectors.toList()))
          .isEmpty();
    }
    return ours;
  }

  private static void compressed(Job job) {
    job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
    job.getConfiguration()
        .setClass("mapreduce.map.output.compress.codec", Lz4Codec.class, CompressionCodec.class);
  }

  // Promise (how-to/accelerate): A map with hundreds of spills merges them within its memory
  @Test
  void tenThousandPartitionsOfManySpills() throws Exception {
    Jobs ours =
        same(
            10_000,
            90_000,
            700,
            job -> job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 40));
    assertThat(ours.counter("SPILLS")).isGreaterThan(MapOutputFiles.mostFiles(500, 10_000, 10));
    // Once when they were spilled, once more in the end, and some in between.
    assertThat(ours.counter(TaskCounter.SPILLED_RECORDS)).isGreaterThan(2 * 90_000);
  }

  // Promise (how-to/accelerate): A map with hundreds of spills merges them within its memory
  @Test
  void hundredsOfCompressedSpills() throws Exception {
    Jobs ours = same(3, 18_000, 6_000, ManySpillsTest::compressed);
    assertThat(ours.counter("SPILLS")).isGreaterThan(CodecStreams.MOST);
    assertThat(ours.counter(TaskCounter.SPILLED_RECORDS)).isGreaterThan(2 * 18_000);
  }

  @Test
  void hundredsOfSpillsThatAreCombinedWithTheirIndexesInFiles() throws Exception {
    Jobs ours =
        same(
            3,
            18_000,
            6_000,
            job -> {
              compressed(job);
              job.setCombinerClass(Sum.class);
              job.getConfiguration().setInt("mapreduce.task.index.cache.limit.bytes", 500);
            });
    assertThat(ours.counter("SPILLS")).isGreaterThan(CodecStreams.MOST);
  }

  @Test
  void aCombinerThatStopsEarlyLeavesNoDecompressorBehind() throws Exception {
    int before = CodecPool.getLeasedDecompressorsCount(lz4());
    run(
        SortingCollector.class,
        3,
        2_000,
        6_000,
        job -> {
          compressed(job);
          job.setCombinerClass(Hasty.class);
        });
    assertThat(CodecPool.getLeasedDecompressorsCount(lz4())).isEqualTo(before);
  }

  private static CompressionCodec lz4() {
    return ReflectionUtils.newInstance(Lz4Codec.class, new JobConf());
  }

  // Promise (how-to/accelerate): Spills are merged at once as far as their memory allows
  @Test
  void asManyFilesAtOnceAsTheirMemoryAllowsButNeverFewerThanHadoopWould() {
    assertThat(MapOutputFiles.mostFiles(500, 1, 10)).isEqualTo(500);
    assertThat(MapOutputFiles.mostFiles(100, 1, 10)).isEqualTo(100);
    assertThat(MapOutputFiles.mostFiles(100, 1, 300)).isEqualTo(300);
    assertThat(MapOutputFiles.mostFiles(500, 10_000, 10)).isEqualTo(69);
    assertThat(MapOutputFiles.mostFiles(500, RecordBuffer.MOST_PARTITIONS, 1)).isEqualTo(2);
    assertThat(MapOutputFiles.mostFiles(100, RecordBuffer.MOST_PARTITIONS, 10)).isEqualTo(10);
    long heap = 512 << 20;
    assertThat(MapOutputFiles.mostStreams(null, false, heap)).isEqualTo(500);
    assertThat(MapOutputFiles.mostStreams(null, true, heap)).isEqualTo(100);
    assertThat(MapOutputFiles.mostStreams(lz4(), false, heap)).isEqualTo(64);
    assertThat(MapOutputFiles.mostStreams(lz4(), true, 4 * heap)).isEqualTo(100);
    assertThat(MapOutputFiles.mostStreams(new BZip2Codec(), false, heap)).isEqualTo(10);
  }
}
