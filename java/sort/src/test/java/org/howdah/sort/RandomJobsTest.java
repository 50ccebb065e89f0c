package org.howdah.sort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs in which all is drawn: {@code -Dhowdah.rounds} says how many, {@code -Dhowdah.seed} from
 * what.
 */
class RandomJobsTest {
  static final List<Class<? extends CompressionCodec>> CODECS =
      Arrays.asList(
          DefaultCodec.class, GzipCodec.class, BZip2Codec.class, SnappyCodec.class, Lz4Codec.class);
  private static final List<Class<?>> SUMS =
      Arrays.asList(
          LongSumReducer.class,
          Jobs.OwnSum.class,
          org.apache.hadoop.mapred.lib.LongSumReducer.class,
          Jobs.OldSum.class);

  @TempDir Path directory;

  /** The old interface compares objects: here by what is written of them. */
  @SuppressWarnings("rawtypes")
  abstract static class OfBytes extends Configured implements RawComparator<WritableComparable> {
    @Override
    public int compare(WritableComparable one, WritableComparable other) {
      try (DataOutputBuffer both = new DataOutputBuffer()) {
        one.write(both);
        int from = both.getLength();
        other.write(both);
        return compare(both.getData(), 0, from, both.getData(), from, both.getLength() - from);
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
    }
  }

  /** Keys the other way round. */
  @SuppressWarnings("rawtypes")
  public static class Reversed extends OfBytes {
    @Override
    public int compare(byte[] one, int start, int length, byte[] other, int from, int bytes) {
      Class<?> type = getConf().getClass(Jobs.TYPE, null);
      return WritableComparator.get(type.asSubclass(WritableComparable.class))
          .compare(other, from, bytes, one, start, length);
    }
  }

  /** By the last byte alone: most keys are equal to many others. */
  @SuppressWarnings("rawtypes")
  public static class ByLastByte extends OfBytes {
    @Override
    public int compare(byte[] one, int start, int length, byte[] other, int from, int bytes) {
      return last(one, start, length) - last(other, from, bytes);
    }

    private static int last(byte[] data, int start, int length) {
      return length == 0 ? Integer.MIN_VALUE >> 1 : data[start + length - 1];
    }
  }

  /** By all bytes: the sort recognises it by its code. */
  @SuppressWarnings("rawtypes")
  public static class ByBytes extends OfBytes {
    @Override
    public int compare(byte[] one, int start, int length, byte[] other, int from, int bytes) {
      return WritableComparator.compareBytes(one, start, length, other, from, bytes);
    }
  }

  /** By most of the first byte: groups of keys that differ. */
  @SuppressWarnings("rawtypes")
  public static class ByFirstByte extends OfBytes {
    @Override
    public int compare(byte[] one, int start, int length, byte[] other, int from, int bytes) {
      return first(one, start, length) - first(other, from, bytes);
    }

    private static int first(byte[] data, int start, int length) {
      return length == 0 ? Integer.MIN_VALUE >> 1 : data[start] >> 1;
    }
  }

  // Promise (README): A job with the sort and the shuffle has the same output as without
  @Test
  void randomJobsGiveWhatTheyGiveWithout() throws Exception {
    long seed = Long.getLong("howdah.seed", System.nanoTime());
    int rounds = Integer.getInteger("howdah.rounds", 10);
    Random random = new Random(seed);
    for (int round = 0; round < rounds; round++) {
      Class<?> type = RandomKeys.TYPES.get(random.nextInt(RandomKeys.TYPES.size()));
      String name = "seed " + seed + " round " + round + " " + type.getSimpleName();
      int maps = 1 + random.nextInt(3);
      int reduces = 1 + random.nextInt(random.nextInt(5) == 0 ? 60 : 4);
      long drawn = random.nextLong();
      Path place = Files.createDirectory(directory.resolve("round" + round));
      new Jobs(place).same(name, maps, reduces, job -> set(job, type, new Random(drawn)));
      FileUtil.fullyDelete(place.toFile());
    }
  }

  static void set(Job job, Class<?> type, Random random) {
    job.setMapOutputKeyClass(type);
    Configuration conf = job.getConfiguration();
    conf.setClass(Jobs.TYPE, type, Object.class);
    boolean isLarge = random.nextInt(6) == 0;
    int records = random.nextInt(10) == 0 ? 0 : random.nextInt(random.nextBoolean() ? 100 : 40_000);
    conf.setInt(Jobs.RECORDS, isLarge ? Math.min(records, 500) : records);
    conf.setInt(Jobs.LARGEST, isLarge ? 3 << 20 : 500);
    conf.setInt(SortingCollector.MEMORY_MB, random.nextInt(3) == 0 ? 1 : 64);
    conf.setInt("mapreduce.task.index.cache.limit.bytes", random.nextBoolean() ? 0 : 1 << 20);
    conf.setBoolean("mapreduce.job.encrypted-intermediate-data", random.nextInt(4) == 0);
    conf.setBoolean("mapreduce.map.output.compress", random.nextInt(3) > 0);
    conf.setClass(
        "mapreduce.map.output.compress.codec",
        CODECS.get(random.nextInt(CODECS.size())),
        CompressionCodec.class);
    conf.setBoolean(Jobs.MARKS, random.nextInt(4) == 0);
    combine(job, random);
    order(job, random);
  }

  private static void combine(Job job, Random random) {
    int kind = random.nextInt(7);
    if (kind == 0) {
      job.setCombinerClass(Jobs.Distinct.class);
      job.getConfiguration().setBoolean(Jobs.DISTINCT, true);
      if (random.nextBoolean()) {
        job.setCombinerKeyGroupingComparatorClass(ByFirstByte.class);
      }
    } else if (kind <= SUMS.size()) {
      job.setMapperClass(Jobs.Numbers.class);
      job.setMapOutputValueClass(LongWritable.class);
      Class<?> combiner = SUMS.get(kind - 1);
      boolean isOld = Reducer.class.isAssignableFrom(combiner);
      job.getConfiguration()
          .set(isOld ? Jobs.OLD_COMBINER : "mapreduce.job.combine.class", combiner.getName());
      job.setReducerClass(Jobs.OwnSum.class);
    }
    job.getConfiguration().setInt("mapreduce.map.combine.minspills", 1 + random.nextInt(4));
  }

  private static void order(Job job, Random random) {
    int kind = random.nextInt(5);
    if (kind == 0) {
      job.setSortComparatorClass(Reversed.class);
    } else if (kind == 2) {
      job.setSortComparatorClass(ByBytes.class);
    } else if (kind == 1
        && job.getConfiguration().get("mapreduce.job.reduce.class").contains("Write")) {
      // A sum has but one of the keys that are equal, and a group whatever comes next to each
      // other.
      job.setSortComparatorClass(ByLastByte.class);
      return;
    }
    if (random.nextInt(3) == 0) {
      job.setGroupingComparatorClass(ByFirstByte.class);
    }
  }
}
