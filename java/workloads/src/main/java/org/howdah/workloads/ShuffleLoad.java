package org.howdah.workloads;

import java.io.IOException;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code shuffle RECORDS}: maps make records of random bytes, reduces count and forget them. What
 * remains is the shuffle: sort, spill, transfer and merge, without a file system.
 */
public final class ShuffleLoad extends Configured implements Tool {
  static final String KEY_BYTES = "howdah.shuffle.key.bytes";
  static final String VALUE_BYTES = "howdah.shuffle.value.bytes";
  static final String SKEW = "howdah.shuffle.skew";

  /** The first bytes of a key, which say the partition. */
  static final int PARTITION_BYTES = 4;

  private static final int BLOCK_RECORDS = 1 << 14;
  private static final long SEED = 1;

  /** Sums over all maps, and over all reduces; of {@code CHECKSUM} the low 63 bits. */
  enum Sent {
    RECORDS,
    CHECKSUM
  }

  /** See {@link Sent}. */
  enum Received {
    RECORDS,
    CHECKSUM
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new ShuffleLoad(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println(
          "Usage: shuffle [-D"
              + KEY_BYTES
              + "=N] [-D"
              + VALUE_BYTES
              + "=N] [-D"
              + SKEW
              + "=X] RECORDS");
      return 2;
    }
    RangeInputFormat.configure(getConf(), Long.parseLong(arguments[0]), BLOCK_RECORDS);
    Job job = Job.getInstance(getConf(), "shuffle");
    job.setJarByClass(ShuffleLoad.class);
    job.setInputFormatClass(RangeInputFormat.class);
    job.setMapperClass(Sender.class);
    job.setPartitionerClass(FirstBytes.class);
    job.setReducerClass(Receiver.class);
    job.setMapOutputKeyClass(BytesWritable.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(NullWritable.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job.waitForCompletion(true) ? 0 : 1;
  }

  /** Adds up records in a way that their order does not change. */
  private static final class Checksum {
    private final CRC32 crc = new CRC32();
    private long records;
    private long sum;

    void add(byte[] key, int keySize, byte[] value, int valueSize) {
      crc.reset();
      crc.update(key, 0, keySize);
      crc.update(value, 0, valueSize);
      sum += crc.getValue();
      records++;
    }
  }

  /** Makes the records of each block. */
  static final class Sender
      extends Mapper<LongWritable, LongWritable, BytesWritable, BytesWritable> {
    private final Checksum checksum = new Checksum();
    private BytesWritable key;
    private BytesWritable value;
    private Zipf partitions;

    @Override
    protected void setup(Context context) {
      Configuration conf = context.getConfiguration();
      key = sized(Math.max(PARTITION_BYTES, conf.getInt(KEY_BYTES, 10)));
      value = sized(conf.getInt(VALUE_BYTES, 90));
      partitions = new Zipf(Math.max(1, context.getNumReduceTasks()), conf.getDouble(SKEW, 0));
    }

    private static BytesWritable sized(int size) {
      BytesWritable bytes = new BytesWritable();
      bytes.setSize(size);
      return bytes;
    }

    @Override
    protected void map(LongWritable first, LongWritable records, Context context)
        throws IOException, InterruptedException {
      RandomBits random = new RandomBits(SEED, first.get());
      byte[] keyBytes = key.getBytes();
      byte[] valueBytes = value.getBytes();
      for (long record = 0; record < records.get(); record++) {
        fill(keyBytes, key.getLength(), random);
        int partition = partitions.draw(random);
        for (int place = 0; place < PARTITION_BYTES; place++) {
          keyBytes[place] = (byte) (partition >>> (24 - 8 * place));
        }
        fill(valueBytes, value.getLength(), random);
        checksum.add(keyBytes, key.getLength(), valueBytes, value.getLength());
        context.write(key, value);
      }
    }

    private static void fill(byte[] bytes, int size, RandomBits random) {
      int at = 0;
      while (at < size) {
        long bits = random.next();
        for (int left = Math.min(8, size - at); left > 0; left--) {
          bytes[at++] = (byte) bits;
          bits >>>= 8;
        }
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Sent.RECORDS).increment(checksum.records);
      context.getCounter(Sent.CHECKSUM).increment(checksum.sum);
    }
  }

  /** The partition that the key begins with. */
  static final class FirstBytes extends Partitioner<BytesWritable, BytesWritable> {
    @Override
    public int getPartition(BytesWritable key, BytesWritable value, int partitions) {
      byte[] bytes = key.getBytes();
      int found = 0;
      for (int place = 0; place < PARTITION_BYTES; place++) {
        found = found << 8 | bytes[place] & 0xff;
      }
      return found;
    }
  }

  /** Counts what arrives. */
  static final class Receiver
      extends Reducer<BytesWritable, BytesWritable, NullWritable, NullWritable> {
    private final Checksum checksum = new Checksum();

    @Override
    protected void reduce(BytesWritable key, Iterable<BytesWritable> values, Context context) {
      for (BytesWritable value : values) {
        checksum.add(key.getBytes(), key.getLength(), value.getBytes(), value.getLength());
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Received.RECORDS).increment(checksum.records);
      context.getCounter(Received.CHECKSUM).increment(checksum.sum);
    }
  }
}
