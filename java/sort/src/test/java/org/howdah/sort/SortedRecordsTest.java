package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SortedRecordsTest {
  private static final int PARTITIONS = 3;

  static List<Class<? extends WritableComparable<?>>> types() {
    return RandomKeys.TYPES;
  }

  private static List<String> sort(
      Class<?> type, RawComparator<?> comparator, KeyOrder order, int count, List<String> given)
      throws IOException {
    Random random = new Random(count);
    RecordBuffer buffer =
        new RecordBuffer(
            1L << 30,
            false,
            () -> {
              throw new IOException("there is room");
            });
    for (int number = 0; number < count; number++) {
      int partition = random.nextInt(PARTITIONS);
      buffer.begin();
      RandomKeys.next(type, random).write(buffer.output());
      buffer.keyDone();
      buffer.output().write(new byte[random.nextInt(10) == 0 ? 300 : random.nextInt(5)]);
      given.add(partition + text(buffer.data(), buffer.keyStart(), buffer.length()));
      buffer.add(order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), partition);
    }
    SortedRecords sorted = SortedRecords.of(buffer, PARTITIONS, order, comparator);
    List<String> found = new ArrayList<>();
    for (int partition = 0; partition < PARTITIONS; partition++) {
      RecordCursor cursor = sorted.partition(partition);
      byte[] last = null;
      while (cursor.next()) {
        byte[] key =
            java.util.Arrays.copyOfRange(cursor.data(), cursor.keyStart(), cursor.valueStart());
        if (last != null) {
          assertThat(comparator.compare(last, 0, last.length, key, 0, key.length))
              .isLessThanOrEqualTo(0);
        }
        last = key;
        found.add(
            partition
                + text(
                    cursor.data(), cursor.keyStart(), cursor.keyLength() + cursor.valueLength()));
      }
    }
    return found;
  }

  private static String text(byte[] data, int start, int length) {
    return new String(data, start, length, java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  @ParameterizedTest
  @MethodSource("types")
  void recordsAreAllThereAndInOrder(Class<? extends WritableComparable<?>> type)
      throws IOException {
    RawComparator<?> comparator = WritableComparator.get(type);
    for (int count : new int[] {0, 1, 2, 30, 1000, 60_000}) {
      List<String> given = new ArrayList<>();
      List<String> found = sort(type, comparator, KeyOrders.of(type, comparator), count, given);
      Collections.sort(given);
      Collections.sort(found);
      assertThat(found).isEqualTo(given);
    }
  }

  @Test
  void keysOfUnknownOrderAreCompared() throws IOException {
    RawComparator<?> comparator = WritableComparator.get(Text.class);
    for (int count : new int[] {1, 23, 24, 25, 49, 20_000}) {
      List<String> given = new ArrayList<>();
      List<String> found = sort(Text.class, comparator, KeyOrder.UNKNOWN, count, given);
      Collections.sort(given);
      Collections.sort(found);
      assertThat(found).isEqualTo(given);
    }
  }

  @Test
  void keysThatAreEachOthersBeginningsDoNotExhaustTheStack() throws IOException {
    RawComparator<?> comparator = WritableComparator.get(BytesWritable.class);
    KeyOrder order = KeyOrders.of(BytesWritable.class, comparator);
    RecordBuffer buffer = new RecordBuffer(1L << 30, false, () -> {});
    int count = 5000;
    for (int number = 0; number < count; number++) {
      buffer.begin();
      new BytesWritable(new byte[number * 7919 % count]).write(buffer.output());
      buffer.keyDone();
      buffer.add(order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), 0);
    }
    RecordCursor cursor = SortedRecords.of(buffer, 1, order, comparator).partition(0);
    for (int length = 0; length < count; length++) {
      assertThat(cursor.next()).isTrue();
      assertThat(cursor.keyLength()).isEqualTo(4 + length);
    }
    assertThat(cursor.next()).isFalse();
  }
}
