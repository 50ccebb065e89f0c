package org.howdah.workloads;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code paircheck DIRECTORY}: whether the output of Hadoop's SecondarySort is in order, as
 * counters: the pairs that are there, their hashes added up, the groups that files have, and the
 * lines that are not where they should be. A group in two files counts twice.
 */
public final class PairCheck extends Configured implements Tool {
  private static final char SEPARATOR = '-';

  /** Sums over all files. */
  enum Found {
    PAIRS,
    HASHES,
    GROUPS,
    ERRORS
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new PairCheck(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("Usage: paircheck [-D" + Pairs.GROUP + "=N] DIRECTORY");
      return 2;
    }
    return job(getConf(), arguments[0]).waitForCompletion(true) ? 0 : 1;
  }

  static Job job(Configuration conf, String directory) throws IOException {
    return CheckJob.of(conf, "paircheck", WholeFiles.class, Order.class, directory);
  }

  /** One map reads one file from its first line to its last. */
  static final class WholeFiles extends TextInputFormat {
    @Override
    protected boolean isSplitable(JobContext context, Path file) {
      return false;
    }
  }

  /**
   * Follows the lines of one file: a separator before each group, groups rising, and pairs rising
   * within a group.
   */
  static final class Order extends Mapper<LongWritable, Text, NullWritable, NullWritable> {
    private final Pairs.Sum sum = new Pairs.Sum();
    private int group;
    private long groups;
    private long errors;
    private long first = -1;
    private long second;
    private boolean opened;

    @Override
    protected void setup(Context context) {
      group = Pairs.group(context.getConfiguration());
    }

    @Override
    protected void map(LongWritable at, Text line, Context context) {
      if (!follows(line.toString())) {
        errors++;
      }
    }

    private boolean follows(String line) {
      if (!line.isEmpty() && line.charAt(0) == SEPARATOR) {
        boolean twice = opened;
        opened = true;
        return !twice;
      }
      int tab = line.indexOf('\t');
      if (tab < 0) {
        return false;
      }
      long left = Long.parseLong(line.substring(0, tab));
      long right = Long.parseLong(line.substring(tab + 1));
      sum.add(left * group + right);
      boolean inPlace = opened ? left > first : left == first && right > second;
      groups += left == first ? 0 : 1;
      opened = false;
      first = left;
      second = right;
      return inPlace;
    }

    @Override
    protected void cleanup(Context context) {
      sum.addTo(context.getCounter(Found.PAIRS), context.getCounter(Found.HASHES));
      context.getCounter(Found.GROUPS).increment(groups);
      context.getCounter(Found.ERRORS).increment(opened ? errors + 1 : errors);
    }
  }
}
