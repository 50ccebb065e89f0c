package org.howdah.sort;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;

/** Records as TeraSort has them: a Text of ten random bytes, a Text of ninety. */
final class TeraRecords {
  static final int KEY = 11;
  static final int VALUE = 91;
  static final int RECORD = KEY + VALUE;
  static final RawComparator<?> COMPARATOR = WritableComparator.get(Text.class);
  static final KeyOrder ORDER = KeyOrders.of(Text.class, COMPARATOR);

  private TeraRecords() {}

  /** Keys and values of {@code count} records, one after the other. */
  static byte[] of(int count, long seed) {
    byte[] records = new byte[count * RECORD];
    new Random(seed).nextBytes(records);
    for (int at = 0; at < records.length; at += RECORD) {
      records[at] = KEY - 1;
      records[at + KEY] = VALUE - 1;
    }
    return records;
  }

  static RecordBuffer buffer(byte[] records) throws IOException {
    RecordBuffer buffer =
        new RecordBuffer(
            1,
            1L << 30,
            false,
            () -> {
              throw new IOException("there is room");
            });
    for (int at = 0; at < records.length; at += RECORD) {
      buffer.begin();
      buffer.output().write(records, at, KEY);
      buffer.keyDone();
      buffer.output().write(records, at + KEY, VALUE);
      buffer.add(ORDER.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), 0);
    }
    return buffer;
  }

  /** A sorted segment, without its checksum. */
  static byte[] segment(int count, long seed) throws IOException {
    SortedRecords sorted =
        new SortedRecords(buffer(of(count, seed)), 1, ORDER, COMPARATOR, () -> {});
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FSDataOutputStream out = new FSDataOutputStream(bytes, null)) {
      SegmentWriter writer = new SegmentWriter(out, null, new byte[SegmentWriter.BUFFER_BYTES]);
      RecordCursor cursor = sorted.partition(0).get(0);
      while (cursor.next()) {
        writer.append(cursor);
      }
      writer.finish();
    }
    byte[] whole = bytes.toByteArray();
    return java.util.Arrays.copyOf(whole, whole.length - 4);
  }
}
