package org.howdah.sort;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;

/**
 * The orders of Hadoop's own key types, each known only together with the comparator that it was
 * read from; and the one of comparators whose code only compares bytes.
 */
public final class KeyOrders {
  private static final Map<Class<?>, KeyOrder> BY_COMPARATOR = new HashMap<>();
  private static final Map<Class<?>, KeyOrder> BY_KEY = new HashMap<>();

  private static final KeyOrder WHOLE =
      new KeyOrder.Bytes() {
        @Override
        public int contentStart(byte[] data, int start) {
          return start;
        }
      };

  static {
    BY_COMPARATOR.put(
        Text.Comparator.class,
        new KeyOrder.Bytes() {
          @Override
          public int contentStart(byte[] data, int start) {
            return start + WritableUtils.decodeVIntSize(data[start]);
          }
        });
    BY_COMPARATOR.put(
        BytesWritable.Comparator.class,
        new KeyOrder.Bytes() {
          @Override
          public int contentStart(byte[] data, int start) {
            return start + Integer.BYTES;
          }
        });
    BY_COMPARATOR.put(BooleanWritable.Comparator.class, WHOLE);
    BY_COMPARATOR.put(MD5Hash.Comparator.class, WHOLE);
    BY_COMPARATOR.put(NullWritable.Comparator.class, WHOLE);
    BY_COMPARATOR.put(ByteWritable.Comparator.class, number((data, start) -> data[start]));
    BY_COMPARATOR.put(
        ShortWritable.Comparator.class,
        number((data, start) -> (short) (data[start] << 8 | data[start + 1] & 0xFF)));
    BY_COMPARATOR.put(IntWritable.Comparator.class, number(WritableComparator::readInt));
    BY_COMPARATOR.put(LongWritable.Comparator.class, number(WritableComparator::readLong));
    BY_COMPARATOR.put(
        LongWritable.DecreasingComparator.class,
        number((data, start) -> ~WritableComparator.readLong(data, start)));
    BY_COMPARATOR.put(
        FloatWritable.Comparator.class,
        number(
            (data, start) ->
                ordered(Float.floatToIntBits(WritableComparator.readFloat(data, start)))));
    BY_COMPARATOR.put(
        DoubleWritable.Comparator.class,
        number(
            (data, start) ->
                ordered(Double.doubleToLongBits(WritableComparator.readDouble(data, start)))));
    BY_KEY.put(VIntWritable.class, number(KeyOrders::variable));
    BY_KEY.put(VLongWritable.class, number(KeyOrders::variable));
  }

  private KeyOrders() {}

  /**
   * The order of serialized keys of {@code keyClass} under {@code comparator}; never null. Throws
   * {@link Providers.Broken} where a {@link KeyOrderProvider} on the class path is.
   */
  public static KeyOrder of(Class<?> keyClass, RawComparator<?> comparator) {
    KeyOrder provided =
        Providers.ask(KeyOrderProvider.class, one -> one.orderOf(keyClass, comparator));
    if (provided != null) {
      return provided;
    }
    KeyOrder order = BY_COMPARATOR.get(comparator.getClass());
    if (order == null && comparator.getClass() == WritableComparator.class) {
      order = BY_KEY.get(keyClass);
    }
    if (order != null) {
      return order;
    }
    return ComparatorCode.comparesBytes(comparator) ? WHOLE : KeyOrder.UNKNOWN;
  }

  private interface Number {
    long read(byte[] data, int start);
  }

  private static KeyOrder number(Number value) {
    return new KeyOrder(KeyOrder.Kind.NUMBER) {
      @Override
      public long prefix(byte[] data, int start, int length) {
        return value.read(data, start) ^ Long.MIN_VALUE;
      }
    };
  }

  /**
   * The bits of a float (IEEE 754) as a number in the order of {@link Double#compare}: -0.0 before
   * 0.0, NaN last.
   */
  private static long ordered(long bits) {
    return bits >= 0 ? bits : bits ^ Long.MAX_VALUE;
  }

  private static long variable(byte[] data, int start) {
    byte first = data[start];
    int size = WritableUtils.decodeVIntSize(first);
    if (size == 1) {
      return first;
    }
    long value = 0;
    for (int at = start + 1; at < start + size; at++) {
      value = value << 8 | data[at] & 0xFF;
    }
    return WritableUtils.isNegativeVInt(first) ? ~value : value;
  }
}
