package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs in this process, each run with Hadoop's collector and with ours. */
class JobsTest {
  private static final String TYPE = "test.key.type";
  private static final String RECORDS = "test.records";
  private static final String LARGEST = "test.largest.value";

  @TempDir Path directory;

  /** One map per line of the input, which is its seed. */
  @SuppressWarnings("rawtypes")
  public static class Generate
      extends Mapper<LongWritable, Text, WritableComparable, BytesWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = new Random(Long.parseLong(line.toString()));
      Configuration conf = context.getConfiguration();
      Class<?> type = conf.getClass(TYPE, Text.class);
      int largest = conf.getInt(LARGEST, 50);
      for (int number = 0; number < conf.getInt(RECORDS, 0); number++) {
        byte[] value =
            new byte[random.nextInt(100) == 0 ? random.nextInt(largest + 1) : random.nextInt(40)];
        random.nextBytes(value);
        context.write(RandomKeys.next(type, random), new BytesWritable(value));
      }
    }
  }

  /** Writes every value with its key, those of equal keys in order: what the sort leaves open. */
  @SuppressWarnings("rawtypes")
  public static class Write extends Reducer<WritableComparable, BytesWritable, Text, NullWritable> {
    @Override
    protected void reduce(WritableComparable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      List<String> found = new ArrayList<>();
      for (BytesWritable value : values) {
        found.add(
            key + "\t" + java.util.Arrays.hashCode(value.copyBytes()) + " " + value.getLength());
      }
      Collections.sort(found);
      for (String one : found) {
        context.write(new Text(one.replace('\n', ' ').replace('\r', ' ')), NullWritable.get());
      }
    }
  }

  /** Numbers as words, so that most come many times. */
  public static class Count extends Mapper<LongWritable, Text, Text, LongWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = new Random(Long.parseLong(line.toString()));
      for (int number = 0; number < context.getConfiguration().getInt(RECORDS, 0); number++) {
        long word = (long) Math.exp(random.nextDouble() * 9);
        context.write(new Text("word" + word), new LongWritable(random.nextInt()));
      }
    }
  }

  /** A combiner of which nothing is known. */
  public static class OwnSum extends LongSumReducer<Text> {}

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

  private interface Setting {
    void apply(Job job) throws IOException;
  }

  private List<String> run(String name, boolean ours, int maps, int reduces, Setting setting)
      throws Exception {
    Path input = directory.resolve(name + ".input");
    List<String> seeds = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      seeds.add(Integer.toString(name.hashCode() + map));
    }
    Files.write(input, seeds);
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    conf.setInt("mapreduce.task.io.sort.mb", 8);
    conf.setInt("mapreduce.client.completion.pollinterval", 10);
    conf.setInt("mapreduce.local.reduce.tasks.maximum", 8);
    if (ours) {
      conf.set("mapreduce.job.map.output.collector.class", SortingCollector.class.getName());
    }
    Job job = Job.getInstance(conf);
    job.setInputFormatClass(NLineInputFormat.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapperClass(Generate.class);
    job.setReducerClass(Write.class);
    job.setNumReduceTasks(reduces);
    setting.apply(job);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    Path output = directory.resolve(name + (ours ? ".ours" : ".stock"));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(output.toUri()));
    assertThat(job.waitForCompletion(false)).as(name).isTrue();
    List<String> lines = new ArrayList<>();
    File[] parts = output.toFile().listFiles((folder, part) -> part.startsWith("part-"));
    java.util.Arrays.sort(parts);
    for (File part : parts) {
      lines.add(part.getName());
      lines.addAll(Files.readAllLines(part.toPath(), java.nio.charset.StandardCharsets.ISO_8859_1));
    }
    for (TaskCounter counter :
        new TaskCounter[] {
          TaskCounter.MAP_OUTPUT_RECORDS,
          TaskCounter.MAP_OUTPUT_BYTES,
          TaskCounter.REDUCE_OUTPUT_RECORDS,
          TaskCounter.REDUCE_INPUT_GROUPS
        }) {
      lines.add(counter + "=" + job.getCounters().findCounter(counter).getValue());
    }
    if (ours) {
      assertThat(job.getCounters().findCounter(SortingCollector.COUNTERS, "RECORDS").getValue())
          .isEqualTo(job.getCounters().findCounter(TaskCounter.MAP_OUTPUT_RECORDS).getValue());
    }
    spills = job.getCounters().findCounter(SortingCollector.COUNTERS, "SPILLS").getValue();
    return lines;
  }

  private long spills;

  private void same(String name, int maps, int reduces, Setting setting) throws Exception {
    List<String> stock = run(name, false, maps, reduces, setting);
    List<String> ours = run(name, true, maps, reduces, setting);
    assertThat(ours).as(name).isEqualTo(stock);
  }

  @Test
  void randomJobsGiveWhatTheyGiveWithout() throws Exception {
    long seed = Long.getLong("howdah.seed", System.nanoTime());
    int rounds = Integer.getInteger("howdah.rounds", 8);
    Random random = new Random(seed);
    for (int round = 0; round < rounds; round++) {
      Class<?> type = RandomKeys.TYPES.get(random.nextInt(RandomKeys.TYPES.size()));
      int records =
          random.nextInt(10) == 0 ? 0 : random.nextInt(random.nextBoolean() ? 100 : 40_000);
      int codec = random.nextInt(4);
      int memory = random.nextInt(3);
      boolean encrypted = random.nextInt(4) == 0;
      int largest = random.nextInt(6) == 0 ? 3 << 20 : 500;
      String name = "seed " + seed + " round " + round + " " + type.getSimpleName();
      same(
          name,
          1 + random.nextInt(3),
          1 + random.nextInt(random.nextInt(5) == 0 ? 60 : 4),
          job -> {
            job.setMapOutputKeyClass(type);
            Configuration conf = job.getConfiguration();
            conf.setClass(TYPE, type, Object.class);
            conf.setInt(RECORDS, largest > 500 ? Math.min(records, 500) : records);
            conf.setInt(LARGEST, largest);
            conf.setInt(SortingCollector.MEMORY_MB, memory == 0 ? 1 : 64);
            conf.setBoolean("mapreduce.map.output.compress", codec > 1);
            Class<?> compression = codec == 2 ? DefaultCodec.class : GzipCodec.class;
            conf.set("mapreduce.map.output.compress.codec", compression.getName());
            conf.setBoolean("mapreduce.job.encrypted-intermediate-data", encrypted);
          });
    }
  }

  @Test
  void manySpillsAreMerged() throws Exception {
    same(
        "spills",
        1,
        3,
        job -> {
          job.getConfiguration().setInt(RECORDS, 200_000);
          job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 1);
        });
    assertThat(spills).isGreaterThan(10);
  }

  private Setting counting(
      Class<? extends Reducer<Text, LongWritable, Text, LongWritable>> combiner, int megabytes) {
    return job -> {
      job.setMapperClass(Count.class);
      job.setMapOutputValueClass(LongWritable.class);
      job.setCombinerClass(combiner);
      job.setReducerClass(OwnSum.class);
      job.getConfiguration().setInt(RECORDS, 100_000);
      job.getConfiguration().setInt(SortingCollector.MEMORY_MB, megabytes);
    };
  }

  @Test
  @SuppressWarnings("unchecked")
  void combinersCombineAndSumsAreFolded() throws Exception {
    for (int megabytes : new int[] {1, 64}) {
      same("own " + megabytes, 2, 2, counting(OwnSum.class, megabytes));
      same(
          "folded " + megabytes,
          2,
          2,
          counting((Class<LongSumReducer<Text>>) (Class<?>) LongSumReducer.class, megabytes));
    }
  }

  @Test
  void aComparatorOfTheUsersDecides() throws Exception {
    same(
        "backwards",
        2,
        2,
        job -> {
          job.getConfiguration().setInt(RECORDS, 20_000);
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
        run(
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
                run(
                    "wrong type",
                    true,
                    1,
                    1,
                    job -> {
                      counting(OwnSum.class, 64).apply(job);
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
    run(
        "empty",
        true,
        1,
        50,
        job -> {
          counting(OwnSum.class, 64).apply(job);
          job.getConfiguration().setInt(RECORDS, 5);
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
  public static class Deaf extends Count {
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
                run(
                    "deaf",
                    true,
                    1,
                    1,
                    job -> {
                      counting(Unable.class, 1).apply(job);
                      job.setMapperClass(Deaf.class);
                    }))
        .isInstanceOf(AssertionError.class);
  }
}
