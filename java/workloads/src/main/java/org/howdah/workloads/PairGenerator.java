package org.howdah.workloads;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code pairgen PAIRS DIRECTORY}: lines of two numbers for Hadoop's SecondarySort; see {@link
 * Pairs}.
 */
public final class PairGenerator extends Configured implements Tool {
  private static final int BLOCK_PAIRS = 1 << 14;

  /** Sums over all maps. */
  enum Generated {
    PAIRS,
    HASHES
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new PairGenerator(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      System.err.println("Usage: pairgen [-D" + Pairs.GROUP + "=N] PAIRS DIRECTORY");
      return 2;
    }
    long pairs = Long.parseLong(arguments[0]);
    if (pairs > Pairs.MOST) {
      System.err.println("pairgen: " + pairs + " pairs are more than " + Pairs.MOST);
      return 2;
    }
    Job job = TextJob.of(getConf(), "pairgen", pairs, BLOCK_PAIRS, Lines.class, arguments[1]);
    return TextJob.run(job, Generated.values());
  }

  /** Writes the lines of a block as one record. */
  static final class Lines extends Mapper<LongWritable, LongWritable, NullWritable, Text> {
    private final StringBuilder lines = new StringBuilder();
    private final Text text = new Text();
    private final Pairs.Sum sum = new Pairs.Sum();
    private int group;
    private long total;

    @Override
    protected void setup(Context context) {
      group = Pairs.group(context.getConfiguration());
      total = context.getConfiguration().getLong(RangeInputFormat.TOTAL, 0);
    }

    @Override
    protected void map(LongWritable first, LongWritable pairs, Context context)
        throws IOException, InterruptedException {
      lines.setLength(0);
      long end = first.get() + pairs.get();
      for (long number = first.get(); number < end; number++) {
        long code = Pairs.code(number, total);
        sum.add(code);
        lines.append(code / group).append('\t').append(code % group).append('\n');
      }
      // The output format ends every record with a line feed of its own.
      lines.setLength(lines.length() - 1);
      text.set(lines.toString().getBytes(StandardCharsets.US_ASCII));
      context.write(NullWritable.get(), text);
    }

    @Override
    protected void cleanup(Context context) {
      sum.addTo(context.getCounter(Generated.PAIRS), context.getCounter(Generated.HASHES));
    }
  }
}
