package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.MarkableIterator;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;

/** Whole jobs in this process, each run with Hadoop's collector and with ours. */
final class Jobs {
  static final String TYPE = "test.key.type";
  static final String RECORDS = "test.records";
  static final String LARGEST = "test.largest.value";
  static final String OLD_COMBINER = "mapred.combiner.class";
  static final String DISTINCT = "test.distinct";
  static final String MARKS = "test.marks";
  static final String COLLECTORS = "mapreduce.job.map.output.collector.class";

  /** Counters that another way of sorting and other work of combiners change. */
  private static final Pattern OTHERWISE =
      Pattern.compile(
          "SPILLED_RECORDS|MAP_OUTPUT_MATERIALIZED_BYTES|REDUCE_SHUFFLE_BYTES|COMBINE_.*"
              + "|MERGED_MAP_OUTPUTS|CPU_.*|GC_.*|.*MEMORY.*|.*HEAP.*");

  private final Path directory;
  private Counters counters;

  Jobs(Path directory) {
    this.directory = directory;
  }

  /** What a job has beside the usual. */
  interface Setting {
    void apply(Job job) throws IOException;
  }

  /** Numbers that are drawn from the seed of a map. */
  static java.util.Random random(Text line) {
    return new java.util.Random(Long.parseLong(line.toString()));
  }

  /** One map per line of the input, which is its seed. */
  @SuppressWarnings("rawtypes")
  public static class Generate
      extends Mapper<LongWritable, Text, WritableComparable, BytesWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      java.util.Random random = random(line);
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

  /** Numbers with keys of any type. */
  @SuppressWarnings("rawtypes")
  public static class Numbers extends Mapper<LongWritable, Text, WritableComparable, LongWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      java.util.Random random = random(line);
      Class<?> type = context.getConfiguration().getClass(TYPE, Text.class);
      for (int number = 0; number < context.getConfiguration().getInt(RECORDS, 0); number++) {
        context.write(RandomKeys.next(type, random), new LongWritable(random.nextLong()));
      }
    }
  }

  /** Words with numbers, so that most come many times. */
  public static class Count extends Mapper<LongWritable, Text, Text, LongWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      java.util.Random random = random(line);
      for (int number = 0; number < context.getConfiguration().getInt(RECORDS, 0); number++) {
        long word = (long) Math.exp(random.nextDouble() * 9);
        context.write(new Text("word" + word), new LongWritable(random.nextInt()));
      }
    }
  }

  /**
   * Writes every value with its key, those of equal keys in order: what the sort leaves open. With
   * {@code MARKS} it reads the values of a group twice.
   */
  @SuppressWarnings("rawtypes")
  public static class Write extends Reducer<WritableComparable, BytesWritable, Text, NullWritable> {
    @Override
    protected void reduce(WritableComparable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      boolean isMarked = context.getConfiguration().getBoolean(MARKS, false);
      MarkableIterator<BytesWritable> each = new MarkableIterator<>(values.iterator());
      if (isMarked) {
        each.mark();
      }
      List<String> found = new ArrayList<>();
      while (each.hasNext()) {
        String value = told(each.next()); // Which may change the key.
        found.add(key + "\t" + value);
      }
      if (isMarked) {
        each.reset();
        for (String line : found) {
          if (!line.endsWith("\t" + told(each.next()))) {
            throw new IllegalStateException(line + " is another value when it is read again");
          }
        }
      }
      if (context.getConfiguration().getBoolean(DISTINCT, false)) {
        found = new ArrayList<>(new TreeSet<>(found));
      }
      found.sort(null);
      for (String one : found) {
        context.write(new Text(one.replace('\n', ' ').replace('\r', ' ')), NullWritable.get());
      }
    }
  }

  private static String told(BytesWritable value) {
    return Arrays.hashCode(value.copyBytes()) + " " + value.getLength();
  }

  /** A combiner that leaves one of each: pairs of key and value, where keys are equal in part. */
  @SuppressWarnings("rawtypes")
  public static class Distinct
      extends Reducer<WritableComparable, BytesWritable, WritableComparable, BytesWritable> {
    @Override
    protected void reduce(WritableComparable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      TreeSet<String> seen = new TreeSet<>();
      for (BytesWritable value : values) {
        if (seen.add(key + " " + value)) {
          context.write(key, value);
        }
      }
    }
  }

  /** A combiner of which nothing is known. */
  public static class OwnSum<K> extends LongSumReducer<K> {}

  /** The same of the old interface, which counts its calls. */
  public static class OldSum<K> extends MapReduceBase
      implements org.apache.hadoop.mapred.Reducer<K, LongWritable, K, LongWritable> {
    @Override
    public void reduce(
        K key,
        Iterator<LongWritable> values,
        OutputCollector<K, LongWritable> output,
        Reporter reporter)
        throws IOException {
      long sum = 0;
      while (values.hasNext()) {
        sum += values.next().get();
      }
      output.collect(key, new LongWritable(sum));
      reporter.getCounter("test", "combined").increment(1);
    }
  }

  List<String> run(String name, boolean ours, int maps, int reduces, Setting setting)
      throws Exception {
    return run(name, ours ? SortingCollector.class.getName() : null, maps, reduces, setting);
  }

  /** The job's output, and those of its counters that are the same whoever sorts. */
  List<String> run(String name, String collectors, int maps, int reduces, Setting setting)
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
    if (collectors != null) {
      conf.set(COLLECTORS, collectors);
    }
    Job job = usual(conf, reduces);
    setting.apply(job);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    Path output = directory.resolve(name + (collectors == null ? ".stock" : ".ours"));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(output.toUri()));
    assertThat(job.waitForCompletion(false)).as(name).isTrue();
    counters = job.getCounters();
    List<String> lines = new ArrayList<>();
    File[] parts = output.toFile().listFiles((folder, part) -> part.startsWith("part-"));
    Arrays.sort(parts);
    for (File part : parts) {
      lines.add(part.getName());
      lines.addAll(Files.readAllLines(part.toPath(), StandardCharsets.ISO_8859_1));
    }
    lines.addAll(counted(job));
    return lines;
  }

  /** A job with one map per line of its input. */
  static Job usual(Configuration conf, int reduces) throws IOException {
    Job job = Job.getInstance(conf);
    job.setInputFormatClass(NLineInputFormat.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapperClass(Generate.class);
    job.setReducerClass(Write.class);
    job.setNumReduceTasks(reduces);
    return job;
  }

  /** The counters of a job that has ended that are the same whoever sorts. */
  static List<String> counted(Job job) throws IOException, ReflectiveOperationException {
    List<String> lines = new ArrayList<>();
    for (TaskCounter counter : TaskCounter.values()) {
      // What combiners have left is what reduces read.
      boolean isLeft =
          counter == TaskCounter.REDUCE_INPUT_RECORDS
              && (job.getCombinerClass() != null
                  || job.getConfiguration().get(OLD_COMBINER) != null);
      if (!isLeft && !OTHERWISE.matcher(counter.name()).matches()) {
        lines.add(counter + "=" + job.getCounters().findCounter(counter).getValue());
      }
    }
    return lines;
  }

  /** A counter of ours, of the job that ran last. */
  long counter(String name) {
    return counters.findCounter(SortingCollector.COUNTERS, name).getValue();
  }

  /** The names of our counters that the job that ran last has. */
  List<String> counters() {
    List<String> names = new ArrayList<>();
    counters.getGroup(SortingCollector.COUNTERS).forEach(counter -> names.add(counter.getName()));
    names.sort(null);
    return names;
  }

  long counter(String group, String name) {
    return counters.findCounter(group, name).getValue();
  }

  long counter(TaskCounter counter) {
    return counters.findCounter(counter).getValue();
  }

  /** Runs a job with Hadoop's sort and with ours, which must serve it and give the same. */
  void same(String name, int maps, int reduces, Setting setting) throws Exception {
    List<String> stock = run(name, false, maps, reduces, setting);
    List<String> ours = run(name, true, maps, reduces, setting);
    assertThat(ours).as(name).isEqualTo(stock);
    assertThat(counter("RECORDS")).isEqualTo(counter(TaskCounter.MAP_OUTPUT_RECORDS));
    assertThat(counter("BYTES")).isEqualTo(counter(TaskCounter.MAP_OUTPUT_BYTES));
    assertThat(counter("FALLBACKS")).isZero();
  }

  /** Sums of words, combined. */
  static Setting counting(
      Class<? extends Reducer<Text, LongWritable, Text, LongWritable>> combiner, int megabytes) {
    return job -> {
      job.setMapperClass(Count.class);
      job.setMapOutputValueClass(LongWritable.class);
      job.setCombinerClass(combiner);
      job.setReducerClass(TextSum.class);
      job.getConfiguration().setInt(RECORDS, 100_000);
      job.getConfiguration().setInt(SortingCollector.MEMORY_MB, megabytes);
    };
  }

  /** Of words. */
  public static class TextSum extends OwnSum<Text> {}
}
