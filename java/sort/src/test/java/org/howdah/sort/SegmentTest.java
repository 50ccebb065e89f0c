package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HasFileDescriptor;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentTest {
  private final Configuration conf = new Configuration();

  private List<CompressionCodec> codecs() {
    List<CompressionCodec> codecs = new ArrayList<>();
    codecs.add(null);
    for (Class<? extends CompressionCodec> type : RandomJobsTest.CODECS) {
      codecs.add(ReflectionUtils.newInstance(type, conf));
    }
    return codecs;
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
      CompressionCodec codec = codecs().get(random.nextInt(codecs().size()));
      List<byte[]> found = read(written(records, codec), codec, 1 + random.nextInt(3000));
      assertThat(found).hasSameSizeAs(records);
      for (int number = 0; number < found.size(); number++) {
        assertThat(found.get(number)).isEqualTo(records.get(number));
      }
    }
  }

  /**
   * A codec that leaves all to streams of its own, which Hadoop's writer and reader never ask for.
   */
  private static final class Streams extends DefaultCodec {
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

  @Test
  void aCodecWithoutACompressorIsTreatedAsHadoopDoes() throws IOException {
    Streams codec = new Streams();
    codec.setConf(conf);
    List<byte[]> records = records(new Random(5), 100);
    byte[] segment = written(records, codec);
    assertThat(segment).isEqualTo(written(records, null));
    assertThat(read(segment, codec, 500)).hasSize(100);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FSDataOutputStream file = new FSDataOutputStream(bytes, null)) {
      IFile.Writer<Text, Text> hadoops = new IFile.Writer<>(conf, file, null, null, codec, null);
      for (byte[] record : records) {
        DataInputBuffer key = new DataInputBuffer();
        DataInputBuffer value = new DataInputBuffer();
        key.reset(record, record.length / 3);
        value.reset(record, record.length / 3, record.length - record.length / 3);
        hadoops.append(key, value);
      }
      hadoops.close();
    }
    assertThat(segment).isEqualTo(bytes.toByteArray());
  }

  @Test
  void arraysForLargeValuesAreAsLargeAsArraysCanBe() {
    assertThat(MergedRecords.capacity(0)).isEqualTo(64);
    assertThat(MergedRecords.capacity(100)).isEqualTo(200);
    assertThat(MergedRecords.capacity(1 << 30)).isEqualTo(Integer.MAX_VALUE - 8);
    assertThat(MergedRecords.capacity(Integer.MAX_VALUE - 8)).isEqualTo(Integer.MAX_VALUE - 8);
  }

  // Promise (how-to/accelerate): A damaged map output is never merged; its map runs again
  @Test
  void aSegmentWithAnyByteChangedOrMissingIsRefused() throws IOException {
    Random random = new Random(4);
    for (CompressionCodec codec : codecs()) {
      byte[] whole = written(records(random, 30), codec);
      int step = codec == null ? 1 : 7;
      for (int at = 0; at < whole.length; at += at < 64 || at > whole.length - 64 ? 1 : step) {
        byte[] changed = whole.clone();
        changed[at] ^= (byte) (1 << random.nextInt(8));
        assertThatThrownBy(() -> read(changed, codec, 500))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith("it ");
        byte[] shorter = Arrays.copyOf(whole, at);
        assertThatThrownBy(() -> read(shorter, codec, 500))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith("it ");
      }
    }
  }

  @Test
  void onlyWhatBeginsWithItsFileIsReadAheadInIt(@TempDir java.nio.file.Path directory)
      throws IOException {
    java.nio.file.Path path = Files.write(directory.resolve("file"), new byte[10]);
    try (FSDataInputStream file = FileSystem.getLocal(conf).getRaw().open(new Path(path.toUri()))) {
      assertThat(SegmentCursor.within(file, 0)).isInstanceOf(HasFileDescriptor.class);
      assertThat(SegmentCursor.within(file, 1)).isNotInstanceOf(HasFileDescriptor.class);
    }
  }
}
