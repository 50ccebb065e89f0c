package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.junit.jupiter.api.Test;

class SegmentTest {
  private final Configuration conf = new Configuration();

  private CompressionCodec codec() {
    DefaultCodec codec = new DefaultCodec();
    codec.setConf(conf);
    return codec;
  }

  private static byte[] written(List<byte[]> records, CompressionCodec codec) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FSDataOutputStream file = new FSDataOutputStream(bytes, null)) {
      SegmentWriter writer = new SegmentWriter(file, codec, new byte[1000]);
      for (byte[] record : records) {
        writer.append(record, 0, record.length / 3, record.length - record.length / 3);
      }
      writer.finish();
      assertThat(writer.partLength()).isEqualTo(file.getPos());
      assertThat(writer.records()).isEqualTo(records.size());
    }
    return bytes.toByteArray();
  }

  private List<byte[]> read(byte[] segment, CompressionCodec codec, int buffer) throws IOException {
    List<byte[]> found = new ArrayList<>();
    SegmentCursor cursor =
        new SegmentCursor(
            () -> new ByteArrayInputStream(segment), "it", segment.length, codec, conf, buffer);
    while (cursor.next()) {
      cursor.complete();
      found.add(
          Arrays.copyOfRange(
              cursor.data(), cursor.keyStart(), cursor.valueStart() + cursor.valueLength()));
    }
    return found;
  }

  private static List<byte[]> records(Random random, int count) {
    List<byte[]> records = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      byte[] record =
          new byte[random.nextInt(20) == 0 ? random.nextInt(5000) : random.nextInt(150)];
      random.nextBytes(record);
      records.add(record);
    }
    return records;
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      List<byte[]> records = records(random, random.nextInt(200));
      CompressionCodec codec = random.nextBoolean() ? codec() : null;
      List<byte[]> found = read(written(records, codec), codec, 1 + random.nextInt(3000));
      assertThat(found).hasSameSizeAs(records);
      for (int number = 0; number < found.size(); number++) {
        assertThat(found.get(number)).isEqualTo(records.get(number));
      }
    }
  }

  @Test
  void aSegmentWithAnyByteChangedOrMissingIsRefused() throws IOException {
    Random random = new Random(4);
    for (CompressionCodec codec : new CompressionCodec[] {null, codec()}) {
      byte[] whole = written(records(random, 30), codec);
      for (int at = 0; at < whole.length; at++) {
        byte[] changed = whole.clone();
        changed[at] ^= (byte) (1 << random.nextInt(8));
        assertThatThrownBy(() -> read(changed, codec, 500)).isInstanceOf(IOException.class);
        byte[] shorter = Arrays.copyOf(whole, at);
        assertThatThrownBy(() -> read(shorter, codec, 500)).isInstanceOf(IOException.class);
      }
    }
  }
}
