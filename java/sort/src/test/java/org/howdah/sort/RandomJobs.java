package org.howdah.sort;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * {@code RandomJobs DIRECTORY SEED ROUNDS}: jobs in which all is drawn, on a cluster whose default
 * are our plugins: each once with Hadoop's own sort and shuffle and once with ours. Ends with 1 as
 * soon as one does not give the same. A system test sends it with this module's test classes.
 */
public final class RandomJobs {
  private static final String SHUFFLE = "Howdah Shuffle";
  private static final String ENCRYPTED = "mapreduce.job.encrypted-intermediate-data";

  private final Path directory;
  private long direct;
  private long http;

  private RandomJobs(Path directory) {
    this.directory = directory;
  }

  /** See the class. */
  public static void main(String[] given) throws Exception {
    long seed = Long.parseLong(given[1]);
    Random random = new Random(seed);
    RandomJobs jobs = new RandomJobs(new Path(given[0]));
    for (int round = 0; round < Integer.parseInt(given[2]); round++) {
      jobs.round("seed " + seed + " round " + round, random);
    }
    System.out.println("SEGMENTS_DIRECT=" + jobs.direct + " SEGMENTS_HTTP=" + jobs.http);
  }

  private void round(String name, Random random) throws Exception {
    Class<?> type = RandomKeys.TYPES.get(random.nextInt(RandomKeys.TYPES.size()));
    int maps = 1 + random.nextInt(5);
    int reduces = 1 + random.nextInt(4);
    long drawn = random.nextLong();
    List<String> own = run(name, type, maps, reduces, drawn, false);
    List<String> ours = run(name, type, maps, reduces, drawn, true);
    for (int line = 0; line < Math.max(own.size(), ours.size()); line++) {
      String one = line < own.size() ? own.get(line) : "nothing";
      String other = line < ours.size() ? ours.get(line) : "nothing";
      if (!one.equals(other)) {
        throw new IllegalStateException(
            name + " " + type + ": line " + line + " is " + one + ", and with ours " + other);
      }
    }
    System.out.println(name + ": " + own.size() + " lines, keys " + type.getSimpleName());
  }

  private List<String> run(
      String name, Class<?> type, int maps, int reduces, long drawn, boolean ours)
      throws Exception {
    // Of equal lengths: a counter has those of the splits, and so of their paths.
    Path place = new Path(directory, name.replace(' ', '-') + (ours ? "-ours" : "-base"));
    FileSystem files = place.getFileSystem(new Configuration());
    Path input = new Path(place, "input");
    try (PrintStream lines = new PrintStream(files.create(input), false, "US-ASCII")) {
      for (int map = 0; map < maps; map++) {
        lines.println(drawn + map);
      }
    }
    Job job = Jobs.usual(new Configuration(), reduces);
    job.setJarByClass(RandomJobs.class);
    job.setJobName(name);
    Random random = new Random(drawn);
    RandomJobsTest.set(job, type, random);
    place(job.getConfiguration(), random);
    if (name.endsWith(" round 0")) {
      // Whatever is drawn, one job has segments that come by HTTP.
      job.getConfiguration().setBoolean(ENCRYPTED, false);
      job.getConfiguration().setBoolean("howdah.shuffle.direct", false);
      job.getConfiguration().setInt(Jobs.RECORDS, 1000);
    }
    if (!ours) {
      job.getConfiguration()
          .set(Jobs.COLLECTORS, "org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
      job.getConfiguration()
          .set(
              "mapreduce.job.reduce.shuffle.consumer.plugin.class",
              "org.apache.hadoop.mapreduce.task.reduce.Shuffle");
    }
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, new Path(place, "output"));
    if (!job.waitForCompletion(false)) {
      throw new IllegalStateException(name + " failed " + (ours ? "with ours" : "with its own"));
    }
    if (ours) {
      served(name, job);
    }
    List<String> found = output(files, new Path(place, "output"));
    found.addAll(Jobs.counted(job));
    files.delete(place, true);
    return found;
  }

  /** What matters on a cluster alone. */
  private static void place(Configuration conf, Random random) {
    conf.setBoolean("howdah.shuffle.direct", random.nextInt(3) > 0);
    conf.setFloat("mapreduce.job.reduce.slowstart.completedmaps", random.nextBoolean() ? 0.05f : 1);
    conf.setFloat("mapreduce.reduce.input.buffer.percent", random.nextInt(3) / 2f);
    if (random.nextInt(3) == 0) {
      // Hardly anything is fetched into memory.
      conf.setLong("mapreduce.reduce.memory.totalbytes", 1 + random.nextInt(1 << 20));
    }
  }

  private void served(String name, Job job) throws IOException {
    Counters found = job.getCounters();
    long records = found.findCounter(TaskCounter.MAP_OUTPUT_RECORDS).getValue();
    long merged = found.findCounter(TaskCounter.REDUCE_INPUT_RECORDS).getValue();
    boolean isEncrypted = job.getConfiguration().getBoolean(ENCRYPTED, false);
    expect(
        name,
        "sorted",
        records,
        found.findCounter(SortingCollector.COUNTERS, "RECORDS").getValue());
    expect(
        name,
        "left by the sort",
        0,
        found.findCounter(SortingCollector.COUNTERS, "FALLBACKS").getValue());
    expect(
        name, "merged", isEncrypted ? 0 : merged, found.findCounter(SHUFFLE, "RECORDS").getValue());
    expect(
        name,
        "left by the shuffle",
        isEncrypted ? job.getNumReduceTasks() : 0,
        found.findCounter(SHUFFLE, "FALLBACKS").getValue());
    direct += found.findCounter(SHUFFLE, "SEGMENTS_DIRECT").getValue();
    http += found.findCounter(SHUFFLE, "SEGMENTS_HTTP").getValue();
  }

  private static void expect(String name, String what, long expected, long found) {
    if (found != expected) {
      throw new IllegalStateException(name + ": " + what + " " + found + ", not " + expected);
    }
  }

  private static List<String> output(FileSystem files, Path directory) throws IOException {
    List<String> lines = new ArrayList<>();
    for (FileStatus part : files.globStatus(new Path(directory, "part-*"))) {
      lines.add(part.getPath().getName());
      try (BufferedReader text =
          new BufferedReader(
              new InputStreamReader(files.open(part.getPath()), StandardCharsets.ISO_8859_1))) {
        for (String line = text.readLine(); line != null; line = text.readLine()) {
          lines.add(line);
        }
      }
    }
    return lines;
  }
}
