package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs in this process, each run with Hadoop's collector and with ours. */
class JobsTest {
  @TempDir Path directory;
  private Jobs jobs;

  @BeforeEach
  void open() {
    jobs = new Jobs(directory);
  }

  /** A comparator of which nothing is known: backwards. */
  public static class Backwards extends WritableComparator {
    public Backwards() {
      super(Text.class, true);
    }

    @Override
    public int compare(
        byte[] one, int start, int length, byte[] other, int otherStart, int otherLength) {
      return super.compare(other, otherStart, otherLength, one, start, length);
    }
  }

  @Test
  void manySpillsAreMerged() throws Exception {
    jobs.same(
        "spills",
        1,
        3,
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 200_000);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
        });
    assertThat(jobs.counter("SPILLS")).isGreaterThan(10);
  }

  // Promise (how-to/accelerate): A combiner runs for each spill and when spills are merged
  @Test
  @SuppressWarnings("unchecked")
  void combinersCombineAndSumsAreFolded() throws Exception {
    for (int megabytes : new int[] {1, 64}) {
      jobs.same("own " + megabytes, 2, 2, Jobs.counting(Jobs.TextSum.class, megabytes));
      jobs.same(
          "folded " + megabytes,
          2,
          2,
          Jobs.counting((Class<LongSumReducer<Text>>) (Class<?>) LongSumReducer.class, megabytes));
    }
  }

  // Promise (how-to/accelerate): Any other comparator decides itself
  @Test
  void aComparatorOfTheUsersDecides() throws Exception {
    jobs.same(
        "backwards",
        2,
        2,
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 20_000);
          job.setSortComparatorClass(Backwards.class);
        });
  }

  /**
   * Goes on after a record that cannot be written: the value of every seventh is one that fails.
   */
  public static class Careless extends Mapper<LongWritable, Text, Text, BytesWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws InterruptedException {
      for (int number = 0; number < 1000; number++) {
        int length = number % 7 == 0 ? -1 : number;
        try {
          context.write(new Text("key" + number), new Failing(length));
        } catch (IOException expected) {
          continue;
        }
      }
    }
  }

  /** A value that writes half of itself and fails if its length is negative. */
  public static class Failing extends BytesWritable {
    private final int length;

    public Failing() {
      this(0);
    }

    Failing(int length) {
      super(new byte[Math.max(0, length)]);
      this.length = length;
    }

    @Override
    public void write(java.io.DataOutput out) throws IOException {
      super.write(out);
      if (length < 0) {
        throw new IOException("as expected");
      }
    }
  }

  @Test
  void aMapperMayGoOnAfterARecordThatCannotBeWritten() throws Exception {
    List<String> ours =
        jobs.run(
            "careless",
            true,
            1,
            2,
            job -> {
              job.setMapperClass(Careless.class);
              job.setMapOutputValueClass(Failing.class);
            });
    assertThat(ours).filteredOn(line -> line.startsWith("key")).hasSize(1000 - 143);
  }

  /** Has a thread that writes until that is refused, after its map has ended. */
  public static class Late extends Mapper<LongWritable, Text, Text, BytesWritable> {
    private static final int MOST = 10_000_000;
    private static Thread thread;
    private static volatile int written;
    private static volatile IOException refused;

    @Override
    protected void map(LongWritable offset, Text line, Context context) {}

    @Override
    protected void cleanup(Context context) {
      thread = new Thread(() -> write(context));
      thread.start();
    }

    private static void write(Context context) {
      try {
        for (int number = 0; number < MOST; number++) {
          context.write(new Text("late"), new BytesWritable());
          written++;
        }
      } catch (IOException expected) {
        refused = expected;
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
    }
  }

  @Test
  void aRecordAfterTheEndOfItsMapIsRefused() throws Exception {
    List<String> found = jobs.run("late", true, 1, 1, job -> job.setMapperClass(Late.class));
    Late.thread.join(60_000);
    assertThat(Late.refused).hasMessageContaining("after the end of its map");
    assertThat(found).filteredOn(line -> line.startsWith("late")).hasSize(Late.written);
  }

  /** Writes something else than what maps write. */
  public static class WrongType
      extends Reducer<Text, LongWritable, Text, org.apache.hadoop.io.IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<LongWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, new org.apache.hadoop.io.IntWritable(1));
    }
  }

  @Test
  void aCombinerThatWritesAnotherTypeFailsTheJob() {
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () ->
                jobs.run(
                    "wrong type",
                    true,
                    1,
                    1,
                    job -> {
                      Jobs.counting(Jobs.TextSum.class, 64).apply(job);
                      job.setCombinerClass(WrongType.class);
                    }))
        .isInstanceOf(AssertionError.class);
  }

  /** Counts in its cleanup how often it ran. */
  public static class Ending extends LongSumReducer<Text> {
    @Override
    protected void cleanup(Context context) {
      context.getCounter("test", "combiners").increment(1);
    }
  }

  @Test
  void aCombinerIsNotRunForPartitionsWithoutRecords() throws Exception {
    Job[] made = new Job[1];
    jobs.run(
        "empty",
        true,
        1,
        50,
        job -> {
          Jobs.counting(Jobs.TextSum.class, 64).apply(job);
          job.getConfiguration().setInt(Jobs.RECORDS, 5);
          job.setCombinerClass(Ending.class);
          made[0] = job;
        });
    assertThat(made[0].getCounters().findCounter("test", "combiners").getValue()).isBetween(1L, 5L);
  }

  /** Threads that write at once, with no other lock than the collector's. */
  public static class Threads
      implements org.apache.hadoop.mapred.Mapper<LongWritable, Text, Text, BytesWritable> {
    @Override
    public void configure(org.apache.hadoop.mapred.JobConf job) {}

    @Override
    public void map(
        LongWritable offset,
        Text line,
        org.apache.hadoop.mapred.OutputCollector<Text, BytesWritable> output,
        org.apache.hadoop.mapred.Reporter reporter)
        throws IOException {
      List<Thread> threads = new ArrayList<>();
      for (int number = 0; number < 4; number++) {
        int from = 10_000 * number;
        threads.add(
            new Thread(
                () -> {
                  try {
                    for (int key = from; key < from + 10_000; key++) {
                      output.collect(new Text("key" + key), new BytesWritable(new byte[key % 100]));
                    }
                  } catch (IOException failure) {
                    throw new java.io.UncheckedIOException(failure);
                  }
                }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        try {
          thread.join();
        } catch (InterruptedException stop) {
          throw new IOException(stop);
        }
      }
    }

    @Override
    public void close() {}
  }

  @Test
  void threadsOfAMapperMayWriteAtOnce() throws Exception {
    Path input = Files.write(directory.resolve("threads"), Collections.singletonList("1"));
    org.apache.hadoop.mapred.JobConf job = new org.apache.hadoop.mapred.JobConf();
    job.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    job.set("mapreduce.job.map.output.collector.class", SortingCollector.class.getName());
    job.setMapperClass(Threads.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(BytesWritable.class);
    org.apache.hadoop.mapred.FileInputFormat.addInputPath(
        job, new org.apache.hadoop.fs.Path(input.toUri()));
    Path output = directory.resolve("threads.out");
    org.apache.hadoop.mapred.FileOutputFormat.setOutputPath(
        job, new org.apache.hadoop.fs.Path(output.toUri()));
    org.apache.hadoop.mapred.JobClient.runJob(job);
    List<String> lines = Files.readAllLines(output.resolve("part-00000"));
    assertThat(lines).hasSize(40_000);
    assertThat(new java.util.HashSet<>(lines)).hasSize(40_000);
  }

  /** A combiner that cannot. */
  public static class Unable extends LongSumReducer<Text> {
    @Override
    public void reduce(Text key, Iterable<LongWritable> values, Context context)
        throws IOException {
      throw new IOException("unable");
    }
  }

  /** Goes on whatever happens. */
  public static class Deaf extends Jobs.Count {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws InterruptedException {
      for (int number = 0; number < 100_000; number++) {
        try {
          context.write(new Text("key" + number), new LongWritable(number));
        } catch (IOException | RuntimeException ignored) {
          continue;
        }
      }
    }
  }

  @Test
  void aMapWhoseSpillFailedFailsWhateverItsMapperIgnores() {
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () ->
                jobs.run(
                    "deaf",
                    true,
                    1,
                    1,
                    job -> {
                      Jobs.counting(Unable.class, 1).apply(job);
                      job.setMapperClass(Deaf.class);
                    }))
        .isInstanceOf(AssertionError.class);
  }
}
