package org.howdah.sort;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.WritableComparable;

/**
 * Keys of every type whose order is known, with what is hard to order: few values, common
 * beginnings, zeros, ends.
 */
final class RandomKeys {
  static final List<Class<? extends WritableComparable<?>>> TYPES =
      Arrays.asList(
          Text.class,
          BytesWritable.class,
          IntWritable.class,
          LongWritable.class,
          VIntWritable.class,
          VLongWritable.class,
          ShortWritable.class,
          ByteWritable.class,
          BooleanWritable.class,
          FloatWritable.class,
          DoubleWritable.class,
          MD5Hash.class,
          NullWritable.class);

  private RandomKeys() {}

  static WritableComparable<?> next(Class<?> type, Random random) {
    long number =
        random.nextBoolean() ? random.nextLong() >> random.nextInt(64) : random.nextInt(5) - 2;
    if (type == Text.class) {
      return new Text(bytes(random));
    } else if (type == BytesWritable.class) {
      return new BytesWritable(bytes(random));
    } else if (type == IntWritable.class) {
      return new IntWritable((int) number);
    } else if (type == LongWritable.class) {
      return new LongWritable(number);
    } else if (type == VIntWritable.class) {
      return new VIntWritable((int) number);
    } else if (type == VLongWritable.class) {
      return new VLongWritable(number);
    } else if (type == ShortWritable.class) {
      return new ShortWritable((short) number);
    } else if (type == ByteWritable.class) {
      return new ByteWritable((byte) number);
    } else if (type == BooleanWritable.class) {
      return new BooleanWritable(random.nextBoolean());
    } else if (type == FloatWritable.class) {
      float[] special = {0f, -0f, Float.NaN, Float.NEGATIVE_INFINITY, Float.MIN_VALUE, -1f};
      return new FloatWritable(
          random.nextBoolean()
              ? special[random.nextInt(special.length)]
              : Float.intBitsToFloat((int) number));
    } else if (type == DoubleWritable.class) {
      double[] special = {0d, -0d, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, -1d};
      return new DoubleWritable(
          random.nextBoolean()
              ? special[random.nextInt(special.length)]
              : Double.longBitsToDouble(number));
    } else if (type == MD5Hash.class) {
      // Equal in the first half, mostly: its prefix says nothing then.
      byte[] digest = new byte[MD5Hash.MD5_LEN];
      ByteBuffer.wrap(digest, random.nextInt(4) == 0 ? 0 : Long.BYTES, Long.BYTES).putLong(number);
      return new MD5Hash(digest);
    }
    return NullWritable.get();
  }

  private static byte[] bytes(Random random) {
    int kind = random.nextInt(5);
    int common =
        kind == 0 ? 0 : kind == 1 ? 8 : kind == 2 ? 23 : kind == 3 ? 300 : random.nextInt(20);
    byte[] bytes = new byte[common + random.nextInt(12)];
    int values = random.nextBoolean() ? 2 : 256;
    for (int at = common; at < bytes.length; at++) {
      bytes[at] = (byte) random.nextInt(values);
    }
    return bytes;
  }
}
