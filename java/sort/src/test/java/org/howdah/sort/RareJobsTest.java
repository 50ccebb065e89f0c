package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.io.serializer.JavaSerializationComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
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

  /** A combiner of the old interface. */
  public static class OldSum
      implements org.apache.hadoop.mapred.Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    public void configure(JobConf job) {}

    @Override
    public void reduce(
        Text key,
        Iterator<LongWritable> values,
        OutputCollector<Text, LongWritable> output,
        Reporter reporter)
        throws IOException {
      long sum = 0;
      while (values.hasNext()) {
        sum += values.next().get();
      }
      output.collect(key, new LongWritable(sum));
      reporter.getCounter("test", "combined").increment(1);
    }

    @Override
    public void close() {}
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
            job.getConfiguration().set("mapred.combiner.class", OldSum.class.getName());
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

  /** With Hadoop's sort and with ours, for this reason. */
  private void failsAlike(String reason, Jobs.Setting setting) {
    for (boolean ours : new boolean[] {false, true}) {
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
}
