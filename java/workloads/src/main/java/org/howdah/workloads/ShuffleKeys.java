package org.howdah.workloads;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.BinaryComparable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Partitioner;

/**
 * The keys of {@link ShuffleLoad}: the number of the partition, then bytes that all have in common,
 * then random ones. Of {@link Text} each byte is a letter.
 */
final class ShuffleKeys {
  static final String BYTES = "howdah.shuffle.key.bytes";
  static final String PREFIX = "howdah.shuffle.key.prefix";
  static final String DISTINCT = "howdah.shuffle.key.distinct";
  static final String TEXT = "howdah.shuffle.key.text";
  static final String REVERSE = "howdah.shuffle.key.reverse";
  static final String SKEW = "howdah.shuffle.skew";

  /** The first bytes of a key, which say the partition. */
  static final int PARTITION_BYTES = 4;

  private static final long SEED = 2;

  private final byte[] bytes;
  private final int start;
  private final int partitions;
  private final boolean distinct;
  private final Zipf ranks;
  private final Text text;
  private final BytesWritable binary;

  ShuffleKeys(Configuration conf, int partitions) {
    bytes = new byte[Math.max(PARTITION_BYTES, conf.getInt(BYTES, 10))];
    start = Math.min(bytes.length, PARTITION_BYTES + conf.getInt(PREFIX, 0));
    int most = conf.getInt(DISTINCT, 0);
    distinct = most > 0;
    this.partitions = partitions;
    ranks = new Zipf(distinct ? most : partitions, conf.getDouble(SKEW, 0));
    boolean letters = isText(conf);
    text = letters ? new Text() : null;
    binary = letters ? null : new BytesWritable();
  }

  private static boolean isText(Configuration conf) {
    return conf.getBoolean(TEXT, false);
  }

  static Class<? extends BinaryComparable> type(Configuration conf) {
    return isText(conf) ? Text.class : BytesWritable.class;
  }

  /** The next key, which is the same object every time. */
  BinaryComparable draw(RandomBits random) {
    int rank = ranks.draw(random);
    int partition = rank % partitions;
    for (int place = PARTITION_BYTES - 1; place >= 0; place--) {
      bytes[place] = text == null ? (byte) partition : letter(partition);
      partition >>>= text == null ? 8 : 4;
    }
    fill(bytes, start, distinct ? new RandomBits(SEED, rank) : random);
    if (text == null) {
      binary.set(bytes, 0, bytes.length);
      return binary;
    }
    for (int place = start; place < bytes.length; place++) {
      bytes[place] = letter(bytes[place]);
    }
    text.set(bytes, 0, bytes.length);
    return text;
  }

  private static byte letter(int bits) {
    return (byte) ('a' + (bits & 15));
  }

  /** Fills bytes from {@code start} on. */
  static void fill(byte[] bytes, int start, RandomBits random) {
    int at = start;
    while (at < bytes.length) {
      long bits = random.next();
      for (int left = Math.min(8, bytes.length - at); left > 0; left--) {
        bytes[at++] = (byte) bits;
        bits >>>= 8;
      }
    }
  }

  /** The partition that the key begins with. */
  static final class FirstBytes extends Partitioner<BinaryComparable, BytesWritable> {
    @Override
    public int getPartition(BinaryComparable key, BytesWritable value, int partitions) {
      boolean letters = key instanceof Text;
      byte[] bytes = key.getBytes();
      int found = 0;
      for (int place = 0; place < PARTITION_BYTES; place++) {
        found = letters ? found << 4 | bytes[place] - 'a' : found << 8 | bytes[place] & 0xff;
      }
      return found;
    }
  }

  /** The order of the type the other way round: a comparator of which nobody knows what it does. */
  static final class Backwards extends Configured implements RawComparator<BinaryComparable> {
    private WritableComparator own;

    @Override
    public void setConf(Configuration conf) {
      super.setConf(conf);
      if (conf != null) {
        own = WritableComparator.get(isText(conf) ? Text.class : BytesWritable.class);
      }
    }

    @Override
    public int compare(byte[] one, int from, int size, byte[] other, int otherFrom, int otherSize) {
      return own.compare(other, otherFrom, otherSize, one, from, size);
    }

    @Override
    public int compare(BinaryComparable one, BinaryComparable other) {
      return other.compareTo(one);
    }
  }
}
