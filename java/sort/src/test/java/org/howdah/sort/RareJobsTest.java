package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.io.serializer.JavaSerializationComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.DiskChecker.DiskErrorException;
import org.apache.log4j.Logger;
import org.apache.log4j.SimpleLayout;
import org.apache.log4j.WriterAppender;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kinds of jobs that few have: they give what they give with Hadoop's own sort, or fail as they do
 * with it.
 */
class RareJobsTest {
  @TempDir Path directory;
  private Jobs jobs;

  @BeforeEach
  void open() {
    jobs = new Jobs(directory);
  }

  @Test
  void combinersOfTheOldInterfaceCombine() throws Exception {
    for (int megabytes : new int[] {1, 64}) {
      jobs.same(
          "old " + megabytes,
          2,
          2,
          job -> {
            Jobs.counting(Jobs.TextSum.class, megabytes).apply(job);
            job.getConfiguration().unset("mapreduce.job.combine.class");
            job.getConfiguration().set(Jobs.OLD_COMBINER, Jobs.OldSum.class.getName());
          });
      assertThat(jobs.counter("test", "combined")).isPositive();
    }
  }

  /** Keys and values that are no Writables. */
  public static class Serializable extends Mapper<LongWritable, Text, Long, String> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = Jobs.random(line);
      for (int number = 0; number < 20_000; number++) {
        context.write((long) random.nextInt(5000) - 2500, "value" + random.nextInt(100));
      }
    }
  }

  /** Writes them, values of equal keys in order. */
  public static class Ordered extends Reducer<Long, String, Text, NullWritable> {
    @Override
    protected void reduce(Long key, Iterable<String> values, Context context)
        throws IOException, InterruptedException {
      TreeSet<String> found = new TreeSet<>();
      int count = 0;
      for (String value : values) {
        found.add(value);
        count++;
      }
      context.write(new Text(key + " " + count + " " + found), NullWritable.get());
    }
  }

  @Test
  void keysOfJavasOwnSerializationAreSorted() throws Exception {
    jobs.same(
        "serializable",
        2,
        2,
        job -> {
          job.getConfiguration()
              .set(
                  "io.serializations",
                  "org.apache.hadoop.io.serializer.JavaSerialization,"
                      + "org.apache.hadoop.io.serializer.WritableSerialization");
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
          job.setMapperClass(Serializable.class);
          job.setMapOutputKeyClass(Long.class);
          job.setMapOutputValueClass(String.class);
          job.setSortComparatorClass(JavaSerializationComparator.class);
          job.setReducerClass(Ordered.class);
        });
    assertThat(jobs.counter("SPILLS")).isGreaterThan(1);
  }

  // Promise (how-to/accelerate): More spills than `mapreduce.task.spill.files.count.limit` fail the
  // map
  @Test
  void moreSpillsThanAreAllowedFailTheMap() {
    failsAlike(
        "Too many spill files got created, control it with"
            + " mapreduce.task.spill.files.count.limit, current value: 2",
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 200_000);
          job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
          job.getConfiguration().setInt("mapreduce.task.spill.files.count.limit", 2);
        });
  }

  // Promise (how-to/accelerate): A codec without its library fails the job and is named
  @Test
  void aCodecWhoseLibraryIsMissingFailsTheMap() {
    failsAlike(
        "native zStandard library not available",
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 1000);
          job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
          job.getConfiguration()
              .setClass(
                  "mapreduce.map.output.compress.codec",
                  ZStandardCodec.class,
                  CompressionCodec.class);
        });
  }

  /** All values of a thread are written by way of one buffer. */
  public static class Buffered implements Writable {
    private static final ThreadLocal<DataOutputBuffer> BUFFER =
        ThreadLocal.withInitial(DataOutputBuffer::new);
    private static final int LENGTH = 400_000;
    private long number;

    @Override
    public void write(DataOutput out) throws IOException {
      DataOutputBuffer buffer = BUFFER.get();
      buffer.reset();
      while (buffer.getLength() < LENGTH) {
        buffer.writeLong(number);
      }
      out.write(buffer.getData(), 0, buffer.getLength());
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readLong();
      for (int at = Long.BYTES; at < LENGTH; at += Long.BYTES) {
        if (in.readLong() != number) {
          throw new IOException("a record of two values");
        }
      }
    }
  }

  /** Writes one object of its thread again and again, the last one after it looked at a counter. */
  public static class Reusing extends Mapper<LongWritable, Text, Text, Buffered> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = Jobs.random(line);
      Buffered value = new Buffered();
      for (int number = 0; number < 101; number++) {
        value.number = random.nextInt();
        context.write(new Text("key" + random.nextInt(60)), value);
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      Buffered value = new Buffered();
      value.number = context.getCounter(TaskCounter.MAP_OUTPUT_RECORDS).getValue();
      context.write(new Text("records"), value);
      value.number = context.getCounter(TaskCounter.MAP_OUTPUT_BYTES).getValue();
      context.write(new Text("bytes"), value);
    }
  }

  /** Of which the sort knows nothing. */
  public static class BufferedSum extends Reducer<Text, Buffered, Text, Buffered> {
    private final Buffered sum = new Buffered();

    @Override
    protected void reduce(Text key, Iterable<Buffered> values, Context context)
        throws IOException, InterruptedException {
      sum.number = 0;
      for (Buffered value : values) {
        sum.number += value.number;
      }
      context.write(key, sum);
    }
  }

  /** Writes sums as text. */
  public static class BufferedText extends Reducer<Text, Buffered, Text, LongWritable> {
    @Override
    protected void reduce(Text key, Iterable<Buffered> values, Context context)
        throws IOException, InterruptedException {
      long sum = 0;
      for (Buffered value : values) {
        sum += value.number;
      }
      context.write(key, new LongWritable(sum));
    }
  }

  /** The memory is full within a record, and then the combiner writes by way of the same buffer. */
  @Test
  void whatTheMapperWritesIsNotChangedByACombinerThatRunsMeanwhile() throws Exception {
    jobs.same(
        "buffered",
        2,
        1,
        job -> {
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 2);
          job.setMapperClass(Reusing.class);
          job.setMapOutputValueClass(Buffered.class);
          job.setCombinerClass(BufferedSum.class);
          job.setReducerClass(BufferedText.class);
        });
    assertThat(jobs.counter("SPILLS")).isGreaterThan(4);
  }

  /** Local directories in which there is room for 4 MiB. */
  public static class LittleRoom extends MROutputFiles {
    private static void check(long bytes) throws IOException {
      if (bytes > 4 << 20) {
        throw new DiskErrorException("there is no room for " + bytes);
      }
    }

    @Override
    public org.apache.hadoop.fs.Path getSpillFileForWrite(int number, long bytes)
        throws IOException {
      check(bytes);
      return super.getSpillFileForWrite(number, bytes);
    }

    @Override
    public org.apache.hadoop.fs.Path getOutputFileForWrite(long bytes) throws IOException {
      check(bytes);
      return super.getOutputFileForWrite(bytes);
    }
  }

  /** Of the size before it is compressed, there may be no such room, and there need not be. */
  @Test
  void compressedOutputsAreWrittenWhereTheyFit() throws Exception {
    Jobs.Setting little =
        job -> {
          job.setMapperClass(Jobs.Count.class);
          job.setMapOutputValueClass(LongWritable.class);
          job.setReducerClass(Jobs.TextSum.class);
          job.getConfiguration().setInt(Jobs.RECORDS, 400_000);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 15);
          job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
          job.getConfiguration()
              .setClass("mapreduce.task.local.output.class", LittleRoom.class, MapOutputFile.class);
        };
    fails("there is no room for", little, true);
    jobs.run(
        "compressed",
        true,
        1,
        1,
        job -> {
          little.apply(job);
          job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
        });
    assertThat(jobs.counter("SPILLS")).isPositive();
  }

  /** Wherever that is: in a spill, in the merge of them, in an index. */
  // Promise (how-to/accelerate): A map whose disk is full fails
  @Test
  void aDiskThatBecomesFullFailsTheMap() throws Exception {
    Jobs.Setting spilling =
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 60_000);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
          job.getConfiguration().setInt("mapreduce.task.index.cache.limit.bytes", 0);
          job.getConfiguration().setClass("fs.file.impl", FullDisk.class, FileSystem.class);
          job.getConfiguration().setBoolean("fs.file.impl.disable.cache", true);
        };
    FullDisk.ROOM.set(Long.MAX_VALUE);
    jobs.run("whole", true, 1, 2, spilling);
    assertThat(jobs.counter("SPILLS")).isGreaterThan(1);
    long all = Long.MAX_VALUE - FullDisk.ROOM.get();
    Random random = new Random(all);
    try {
      for (int round = 0; round < 8; round++) {
        // Another map's output is a little smaller or larger.
        FullDisk.ROOM.set((long) (all * 0.9 * random.nextDouble()));
        fails("No space left on device", spilling, true);
        FileUtil.fullyDelete(directory.resolve("fails.ours").toFile());
      }
    } finally {
      FullDisk.ROOM.set(Long.MAX_VALUE);
    }
  }

  // Promise (how-to/accelerate): An attempt after a failed one takes no more than
  // `mapreduce.task.io.sort.mb`
  @Test
  void onlyAnAttemptThatAnotherMayFollowTriesHowMuchMemoryThereIs() {
    JobConf job = new JobConf();
    job.set("mapreduce.framework.name", "yarn");
    TaskAttemptID first = TaskAttemptID.forName("attempt_1_0001_m_000000_0");
    TaskAttemptID second = TaskAttemptID.forName("attempt_1_0001_m_000000_1");
    assertThat(SortingCollector.most(job, 1, first)).isGreaterThan(1);
    assertThat(SortingCollector.most(job, 1, second)).isEqualTo(1);
    job.setMaxMapAttempts(1);
    assertThat(SortingCollector.most(job, 1, first)).isEqualTo(1);
  }

  /** Jobs may have only so many counters that are not Hadoop's own. */
  @Test
  void aPlainJobHasNoCountersThatSayNothing() throws Exception {
    jobs.run("plain", true, 1, 1, job -> job.getConfiguration().setInt(Jobs.RECORDS, 10));
    assertThat(jobs.counters()).containsExactly("BYTES", "RECORDS");
  }

  /** With Hadoop's sort and with ours, for this reason. */
  private void failsAlike(String reason, Jobs.Setting setting) {
    fails(reason, setting, false);
    fails(reason, setting, true);
  }

  private void fails(String reason, Jobs.Setting setting, boolean ours) {
    StringWriter log = new StringWriter();
    WriterAppender appender = new WriterAppender(new SimpleLayout(), log);
    Logger.getRootLogger().addAppender(appender);
    try {
      assertThatThrownBy(() -> jobs.run("fails", ours, 1, 1, setting))
          .isInstanceOf(AssertionError.class);
    } finally {
      Logger.getRootLogger().removeAppender(appender);
    }
    assertThat(log.toString()).as("with " + (ours ? "our sort" : "Hadoop's")).contains(reason);
  }
}
