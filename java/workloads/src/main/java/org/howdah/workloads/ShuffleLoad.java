package org.howdah.workloads;

import java.io.IOException;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.BinaryComparable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code shuffle RECORDS}: maps make records of random bytes, reduces count and forget them. What
 * remains is the shuffle: sort, spill, transfer and merge, without a file system.
 */
public final class ShuffleLoad extends Configured implements Tool {
  static final String VALUE_BYTES = "howdah.shuffle.value.bytes";

  private static final int BLOCK_RECORDS = 1 << 14;
  private static final long SEED = 1;

  /** Sums over all maps, and over all reduces; of {@code CHECKSUM} the low 63 bits. */
  enum Sent {
    RECORDS,
    CHECKSUM
  }

  /**
   * See {@link Sent}; and how many keys did not come after the one before, or came to another
   * reduce than that of their partition.
   */
  enum Received {
    RECORDS,
    CHECKSUM,
    DISORDER,
    MISPLACED
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new ShuffleLoad(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("Usage: shuffle [-D howdah.shuffle.NAME=VALUE]... RECORDS");
      return 2;
    }
    return job(getConf(), Long.parseLong(arguments[0])).waitForCompletion(true) ? 0 : 1;
  }

  static Job job(Configuration conf, long records) throws IOException {
    RangeInputFormat.configure(conf, records, BLOCK_RECORDS);
    Job job = Job.getInstance(conf, "shuffle");
    job.setJarByClass(ShuffleLoad.class);
    job.setInputFormatClass(RangeInputFormat.class);
    job.setMapperClass(Sender.class);
    job.setPartitionerClass(ShuffleKeys.FirstBytes.class);
    job.setReducerClass(Receiver.class);
    job.setMapOutputKeyClass(ShuffleKeys.type(conf));
    job.setMapOutputValueClass(BytesWritable.class);
    if (conf.getBoolean(ShuffleKeys.REVERSE, false)) {
      job.setSortComparatorClass(ShuffleKeys.Backwards.class);
    }
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(NullWritable.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** Adds up records in a way that their order does not change. */
  private static final class Checksum {
    private final CRC32 crc = new CRC32();
    private long records;
    private long sum;

    void add(BinaryComparable key, BytesWritable value) {
      crc.reset();
      crc.update(key.getBytes(), 0, key.getLength());
      crc.update(value.getBytes(), 0, value.getLength());
      sum += crc.getValue();
      records++;
    }
  }

  /** Makes the records of each block. */
  static final class Sender
      extends Mapper<LongWritable, LongWritable, BinaryComparable, BytesWritable> {
    private final Checksum checksum = new Checksum();
    private final BytesWritable value = new BytesWritable();
    private byte[] bytes;
    private ShuffleKeys keys;

    @Override
    protected void setup(Context context) {
      Configuration conf = context.getConfiguration();
      keys = new ShuffleKeys(conf, Math.max(1, context.getNumReduceTasks()));
      bytes = new byte[conf.getInt(VALUE_BYTES, 90)];
    }

    @Override
    protected void map(LongWritable first, LongWritable records, Context context)
        throws IOException, InterruptedException {
      RandomBits random = new RandomBits(SEED, first.get());
      for (long record = 0; record < records.get(); record++) {
        BinaryComparable key = keys.draw(random);
        ShuffleKeys.fill(bytes, 0, random);
        value.set(bytes, 0, bytes.length);
        checksum.add(key, value);
        context.write(key, value);
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Sent.RECORDS).increment(checksum.records);
      context.getCounter(Sent.CHECKSUM).increment(checksum.sum);
    }
  }

  /** Counts what arrives, and looks at its order and its partition. */
  static final class Receiver
      extends Reducer<BinaryComparable, BytesWritable, NullWritable, NullWritable> {
    private final Checksum checksum = new Checksum();
    private final ShuffleKeys.FirstBytes partitioner = new ShuffleKeys.FirstBytes();
    private final BytesWritable before = new BytesWritable();
    private boolean any;
    private int direction;
    private int partition;
    private long disorder;
    private long misplaced;

    @Override
    protected void setup(Context context) {
      direction = context.getConfiguration().getBoolean(ShuffleKeys.REVERSE, false) ? -1 : 1;
      partition = context.getTaskAttemptID().getTaskID().getId();
    }

    @Override
    protected void reduce(BinaryComparable key, Iterable<BytesWritable> values, Context context) {
      if (any && direction * before.compareTo(key) >= 0) {
        disorder++;
      }
      if (partitioner.getPartition(key, null, context.getNumReduceTasks()) != partition) {
        misplaced++;
      }
      before.set(key.getBytes(), 0, key.getLength());
      any = true;
      for (BytesWritable value : values) {
        checksum.add(key, value);
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Received.RECORDS).increment(checksum.records);
      context.getCounter(Received.CHECKSUM).increment(checksum.sum);
      context.getCounter(Received.DISORDER).increment(disorder);
      context.getCounter(Received.MISPLACED).increment(misplaced);
    }
  }
}
