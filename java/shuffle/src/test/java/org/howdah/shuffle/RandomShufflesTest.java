package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.ReflectionUtils;
import org.howdah.sort.SegmentWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Shuffles of all kinds, drawn at random: what a reduce gets is what its maps wrote, in order. A
 * failure names the seed of its round; {@code -Dhowdah.seed} begins with that one, {@code
 * -Dhowdah.rounds} runs more.
 */
class RandomShufflesTest extends ReduceFixture {
  private static final List<Class<? extends CompressionCodec>> CODECS =
      Arrays.asList(
          null,
          DefaultCodec.class,
          GzipCodec.class,
          BZip2Codec.class,
          SnappyCodec.class,
          Lz4Codec.class,
          Streams.class);

  private static final List<Class<?>> TYPES =
      Arrays.asList(
          Text.class,
          BytesWritable.class,
          IntWritable.class,
          LongWritable.class,
          VLongWritable.class,
          DoubleWritable.class,
          NullWritable.class);

  /** A codec that leaves all to streams of its own: Hadoop's maps write as it is what it is for. */
  public static class Streams extends DefaultCodec {
    @Override
    public Compressor createCompressor() {
      return null;
    }

    @Override
    public Class<? extends Compressor> getCompressorType() {
      return null;
    }

    @Override
    public Decompressor createDecompressor() {
      return null;
    }

    @Override
    public Class<? extends Decompressor> getDecompressorType() {
      return null;
    }
  }

  /** A comparator of which nothing is known. */
  public static class Backwards extends WritableComparator {
    public Backwards() {
      super(Text.class, true);
    }

    @Override
    public int compare(
        byte[] one, int start, int length, byte[] other, int otherStart, int otherLength) {
      return super.compare(other, otherStart, otherLength, one, start, length);
    }
  }

  private static Writable key(Class<?> type, Random random) {
    long number =
        random.nextBoolean() ? random.nextLong() >> random.nextInt(64) : random.nextInt(5) - 2;
    if (type == Text.class || type == BytesWritable.class) {
      byte[] bytes = new byte[random.nextBoolean() ? random.nextInt(20) : random.nextInt(400)];
      // Long common beginnings.
      for (int at = Math.max(0, bytes.length - random.nextInt(4)); at < bytes.length; at++) {
        bytes[at] = (byte) random.nextInt(random.nextBoolean() ? 2 : 256);
      }
      return type == Text.class ? new Text(bytes) : new BytesWritable(bytes);
    } else if (type == IntWritable.class) {
      return new IntWritable((int) number);
    } else if (type == LongWritable.class) {
      return new LongWritable(number);
    } else if (type == VLongWritable.class) {
      return new VLongWritable(number);
    } else if (type == DoubleWritable.class) {
      return new DoubleWritable(Double.longBitsToDouble(number));
    }
    return NullWritable.get();
  }

  private static <T> T one(Random random, List<T> some) {
    return some.get(random.nextInt(some.size()));
  }

  private static JobConf draw(Random random, int maps, Path local) {
    JobConf job = Segments.job(local, maps);
    job.setMapOutputKeyClass(one(random, TYPES));
    if (job.getMapOutputKeyClass() == Text.class && random.nextBoolean()) {
      job.setOutputKeyComparatorClass(Backwards.class);
    }
    long[] memories = {1000, 30_000, 1 << 20, 1 << 26};
    job.setLong("mapreduce.reduce.memory.totalbytes", memories[random.nextInt(memories.length)]);
    float[] shares = {0, 0.3f, 0.9f};
    job.setFloat("mapreduce.reduce.input.buffer.percent", shares[random.nextInt(3)]);
    float[] limits = {0.05f, 0.25f, 1};
    job.setFloat("mapreduce.reduce.shuffle.memory.limit.percent", limits[random.nextInt(3)]);
    job.setInt("mapreduce.task.io.sort.factor", 1 + random.nextInt(5));
    job.setInt("mapreduce.reduce.shuffle.parallelcopies", 1 + random.nextInt(5));
    job.setBoolean("mapred.reducer.new-api", random.nextBoolean());
    job.setBoolean("mapreduce.reduce.shuffle.fetch.retry.enabled", true);
    job.setInt("mapreduce.reduce.shuffle.fetch.retry.interval-ms", 1);
    return job;
  }

  /** Sorted records, as bytes: key, value, and the length of the key. */
  private static List<byte[][]> records(Random random, JobConf job) throws IOException {
    int count = random.nextInt(4) == 0 ? 0 : random.nextInt(200);
    List<byte[][]> records = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      DataOutputBuffer key = new DataOutputBuffer();
      key(job.getMapOutputKeyClass(), random).write(key);
      boolean isLarge = random.nextInt(300) == 0;
      byte[] value = new byte[isLarge ? random.nextInt(600_000) : random.nextInt(60)];
      random.nextBytes(value);
      byte[] bytes = Arrays.copyOf(key.getData(), key.getLength());
      records.add(new byte[][] {bytes, value});
    }
    RawComparator<?> comparator = job.getOutputKeyComparator();
    records.sort(
        (one, other) -> comparator.compare(one[0], 0, one[0].length, other[0], 0, other[0].length));
    return records;
  }

  private static SegmentWriter write(
      ByteArrayOutputStream to, List<byte[][]> records, CompressionCodec codec) throws IOException {
    try (FSDataOutputStream file = new FSDataOutputStream(to, null)) {
      SegmentWriter writer = new SegmentWriter(file, codec, new byte[SegmentWriter.BUFFER_BYTES]);
      for (byte[][] record : records) {
        byte[] both = Arrays.copyOf(record[0], record[0].length + record[1].length);
        System.arraycopy(record[1], 0, both, record[0].length, record[1].length);
        writer.append(both, 0, record[0].length, record[1].length);
      }
      writer.finish();
      return writer;
    }
  }

  /** Has the maps' outputs made, at the server and some of them here; gives their records. */
  private List<String> made(
      Random random, JobConf job, int maps, CompressionCodec codec, Path local) throws IOException {
    List<String> all = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      List<byte[][]> records = records(random, job);
      for (byte[][] record : records) {
        all.add(text(record[0], 0, record[0].length) + "\n" + text(record[1], 0, record[1].length));
      }
      ByteArrayOutputStream segment = new ByteArrayOutputStream();
      SegmentWriter writer = write(segment, records, codec);
      String name = Segments.map(map).toString();
      server.put(Segments.map(map), segment.toByteArray(), writer.rawLength());
      succeeded(Segments.map(map), server.url());
      if (random.nextInt(3) > 0) {
        byte[] bytes = segment.toByteArray();
        byte[] kept =
            random.nextInt(8) == 0 ? Segments.changed(bytes, random.nextInt(bytes.length)) : bytes;
        onThisNode(job, local, name, kept, writer.rawLength());
      }
    }
    return all;
  }

  private static String text(byte[] data, int start, int length) {
    return new String(data, start, length, StandardCharsets.ISO_8859_1);
  }

  private static String text(DataInputBuffer buffer) {
    return text(buffer.getData(), buffer.getPosition(), buffer.getLength() - buffer.getPosition());
  }

  private static List<String> read(RawKeyValueIterator records, JobConf job) throws IOException {
    RawComparator<?> comparator = job.getOutputKeyComparator();
    List<String> found = new ArrayList<>();
    byte[] before = null;
    while (records.next()) {
      String key = text(records.getKey());
      byte[] bytes = key.getBytes(StandardCharsets.ISO_8859_1);
      if (before != null) {
        int order = comparator.compare(before, 0, before.length, bytes, 0, bytes.length);
        assertThat(order).as("order of keys").isLessThanOrEqualTo(0);
      }
      before = bytes;
      found.add(key + "\n" + text(records.getValue()));
    }
    return found;
  }

  /** Answers as it should, but for one of some times. */
  private void misbehave(Random random) {
    AtomicInteger left = new AtomicInteger(3);
    server.answer =
        (request, maps) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : maps) {
            boolean isCut;
            synchronized (random) {
              isCut = random.nextInt(20) == 0 && left.getAndDecrement() > 0;
            }
            if (isCut) {
              server.sendHalf(out, map);
              return;
            }
            server.send(out, map);
          }
          out.flush();
        };
  }

  private void round(long seed) throws IOException, InterruptedException {
    Random random = new Random(seed);
    events.clear();
    int maps = 1 + random.nextInt(40);
    Path local = Files.createDirectory(directory.resolve("seed" + seed));
    JobConf job = draw(random, maps, local);
    Class<? extends CompressionCodec> type = one(random, CODECS);
    CompressionCodec codec = type == null ? null : ReflectionUtils.newInstance(type, job);
    List<String> written = made(random, job, maps, codec, local);
    misbehave(random);
    Segments.Counting counting = new Segments.Counting();
    MergingShuffle<Object, Object> shuffle =
        new MergingShuffle<>(random.nextInt(4) == 0 ? null : "127.0.0.1", noticeMs);
    shuffle.init(Segments.context(reduce, job, counting, codec, master(), status, null));
    List<String> found = read(shuffle.run(), job);
    shuffle.close();
    written.sort(null);
    found.sort(null);
    assertThat(found.equals(written)).as("the same records").isTrue();
    String group = MergingShuffle.COUNTERS;
    assertThat(counting.of(group, "RECORDS")).isEqualTo(written.size());
    assertThat(counting.of(group, "SEGMENTS_DIRECT") + counting.of(group, "SEGMENTS_HTTP"))
        .isEqualTo(maps);
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void aReduceGetsWhatItsMapsWrote() {
    long seed = Long.getLong("howdah.seed", new Random().nextInt(1_000_000));
    int rounds = Integer.getInteger("howdah.rounds", 8);
    for (long one = seed; one < seed + rounds; one++) {
      try {
        round(one);
      } catch (Throwable failed) {
        throw new AssertionError("howdah.seed=" + one, failed);
      }
    }
  }
}
