package org.howdah.workloads;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code sortcheck INPUT OUTPUT}: whether the output of Hadoop's Sort is its input in order, as
 * counters: of both, the records, their bytes and their hashes added up; of the output, the keys
 * that are less than the one before in their file, and those that the hash partitioner has for
 * another file.
 */
public final class SortCheck extends Configured implements Tool {
  private static final String PARTITIONS = "howdah.check.partitions";
  private static final Pattern NUMBERED = Pattern.compile(".*-(\\d+)");

  /** Sums over all files; of {@code HASHES} the low 64 bits. */
  enum Input {
    RECORDS,
    BYTES,
    HASHES
  }

  /** See {@link Input}. */
  enum Output {
    FILES,
    RECORDS,
    BYTES,
    HASHES,
    DISORDER,
    MISPLACED
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new SortCheck(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      System.err.println("Usage: sortcheck INPUT OUTPUT");
      return 2;
    }
    return job(getConf(), arguments[0], arguments[1]).waitForCompletion(true) ? 0 : 1;
  }

  static Job job(Configuration conf, String input, String output) throws IOException {
    Job job = CheckJob.of(conf, "sortcheck", WholeSequences.class, Reader.class, input, output);
    // Each reduce leaves a file, also without records.
    job.getConfiguration().setInt(PARTITIONS, WholeSequences.configure(job, output));
    return job;
  }

  /** The number at the end of the name of a reduce's file; -1 if there is none. */
  static int partitionOf(Path file) {
    Matcher name = NUMBERED.matcher(file.getName());
    return name.matches() ? Integer.parseInt(name.group(1)) : -1;
  }

  /** Reads a part of the input, or a file of the output. */
  static final class Reader
      extends Mapper<BytesWritable, BytesWritable, NullWritable, NullWritable> {
    private final Partitioner<BytesWritable, BytesWritable> partitioner = new HashPartitioner<>();
    private final KeySteps order = new KeySteps();
    private boolean sorted;
    private int partition;
    private int partitions;
    private long records;
    private long bytes;
    private long hashes;
    private long disorder;
    private long misplaced;

    @Override
    protected void setup(Context context) {
      Path file = ((FileSplit) context.getInputSplit()).getPath();
      sorted = WholeSequences.has(context.getConfiguration(), file);
      partition = partitionOf(file);
      partitions = context.getConfiguration().getInt(PARTITIONS, 0);
    }

    @Override
    protected void map(BytesWritable key, BytesWritable value, Context context) {
      records++;
      bytes += key.getLength() + value.getLength();
      hashes += RecordHash.of(key, value);
      if (sorted) {
        disorder += order.follow(key) > 0 ? 1 : 0;
        misplaced += partitioner.getPartition(key, value, partitions) == partition ? 0 : 1;
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(sorted ? Output.RECORDS : Input.RECORDS).increment(records);
      context.getCounter(sorted ? Output.BYTES : Input.BYTES).increment(bytes);
      context.getCounter(sorted ? Output.HASHES : Input.HASHES).increment(hashes);
      if (sorted) {
        context.getCounter(Output.FILES).increment(1);
        context.getCounter(Output.DISORDER).increment(disorder);
        context.getCounter(Output.MISPLACED).increment(misplaced);
      }
    }
  }
}
