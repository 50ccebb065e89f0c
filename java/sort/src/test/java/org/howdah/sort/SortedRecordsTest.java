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
            PARTITIONS,
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
    SortedRecords sorted = new SortedRecords(buffer, PARTITIONS, order, comparator, () -> {});
    List<String> found = new ArrayList<>();
    for (int partition = 0; partition < PARTITIONS; partition++) {
      RecordCursor cursor = only(sorted.partition(partition));
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

  /** The records of a partition, for which there is memory to sort them at once. */
  private static RecordCursor only(List<RecordCursor> runs) {
    assertThat(runs).hasSizeLessThanOrEqualTo(1);
    return runs.isEmpty() ? SegmentCursor.inMemory(new byte[] {-1, -1}, 2, "none") : runs.get(0);
  }

  /** Sorts Texts with a common beginning and a number, which grows by {@code step}. */
  private static void sortNumbers(
      int beginning, int step, int count, KeyOrder order, RawComparator<?> comparator, Slow slow)
      throws IOException {
    RecordBuffer buffer = new RecordBuffer(1, 1L << 30, false, () -> {});
    String common = String.join("", Collections.nCopies(beginning, "a"));
    for (int number = 0; number < count; number++) {
      buffer.begin();
      new Text(common + number * step % (count / 4)).write(buffer.output());
      buffer.keyDone();
      buffer.add(order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), 0);
      slow.progress();
    }
    only(new SortedRecords(buffer, 1, order, comparator, slow).partition(0));
    assertThat(slow.most()).isPositive();
  }

  // Promise (how-to/accelerate): A task with a slow comparator reports progress
  @Test
  void aSortBySlowComparisonsReportsProgress() throws IOException {
    for (int count : new int[] {1000, 10_000, 60_000}) {
      // With a step of 0 they are in order before.
      for (int step : new int[] {0, 7919}) {
        Slow slow = new Slow();
        sortNumbers(0, step, count, KeyOrder.UNKNOWN, slow.comparator(Text.class), slow);
        // As many as insertions of 72 entries may take: 0.6 s with 0.7 ms each.
        assertThat(slow.most()).isLessThanOrEqualTo(850);
      }
    }
  }

  @Test
  void aSortOfKeysWithALongCommonBeginningReportsProgress() throws IOException {
    Slow slow = new Slow();
    sortNumbers(100, 7919, 60_000, slow.textOrder(), slow.comparator(Text.class), slow);
    // A key is looked at twice: for its length, and for its prefix.
    assertThat(slow.most()).isLessThanOrEqualTo(2 * StepProgress.STEPS);
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
    for (int count : new int[] {1, 23, 24, 25, 49, 20_000, 60_000, 250_000}) {
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
    RecordBuffer buffer = new RecordBuffer(1, 1L << 30, false, () -> {});
    int count = 5000;
    for (int number = 0; number < count; number++) {
      buffer.begin();
      new BytesWritable(new byte[number * 7919 % count]).write(buffer.output());
      buffer.keyDone();
      buffer.add(order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), 0);
    }
    RecordCursor cursor =
        only(new SortedRecords(buffer, 1, order, comparator, () -> {}).partition(0));
    for (int length = 0; length < count; length++) {
      assertThat(cursor.next()).isTrue();
      assertThat(cursor.keyLength()).isEqualTo(4 + length);
    }
    assertThat(cursor.next()).isFalse();
  }

  @Test
  void tenThousandPartitionsAreToldApart() throws IOException {
    int partitions = 10_000;
    RawComparator<?> comparator = WritableComparator.get(Text.class);
    KeyOrder order = KeyOrders.of(Text.class, comparator);
    RecordBuffer buffer = new RecordBuffer(partitions, 1L << 30, false, () -> {});
    for (int number = 0; number < 3 * partitions; number++) {
      buffer.begin();
      new Text("key" + number * 7919L % 1000).write(buffer.output());
      buffer.keyDone();
      new Text("of " + number % partitions).write(buffer.output());
      buffer.add(
          order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), number % partitions);
    }
    SortedRecords sorted = new SortedRecords(buffer, partitions, order, comparator, () -> {});
    for (int partition = 0; partition < partitions; partition++) {
      RecordCursor cursor = only(sorted.partition(partition));
      for (int record = 0; record < 3; record++) {
        assertThat(cursor.next()).isTrue();
        assertThat(text(cursor.data(), cursor.valueStart() + 1, cursor.valueLength() - 1))
            .isEqualTo("of " + partition);
      }
      assertThat(cursor.next()).isFalse();
    }
  }

  @Test
  void aFullBufferIsEmptiedBetweenRecordsAndWithinOne() throws IOException {
    int[] spilled = new int[2];
    RecordBuffer[] held = new RecordBuffer[1];
    held[0] =
        new RecordBuffer(
            2,
            100_000,
            false,
            () -> {
              spilled[0] += held[0].count();
              spilled[1]++;
              held[0].clear();
            });
    RecordBuffer buffer = held[0];
    Random random = new Random(2);
    for (int number = 0; number < 2000; number++) {
      byte[] value = new byte[number % 500 == 7 ? 300_000 : random.nextInt(200)];
      random.nextBytes(value);
      buffer.begin();
      new Text("key" + number).write(buffer.output());
      buffer.keyDone();
      for (byte one : value) {
        buffer.output().write(one);
      }
      assertThat(buffer.valueLength()).isEqualTo(value.length);
      long entry = buffer.add(0, 1);
      byte[] page = buffer.page(entry);
      int key = EntrySort.Key.start(page, RecordBuffer.offset(entry));
      int length = EntrySort.Key.length(page, RecordBuffer.offset(entry));
      assertThat(text(page, key + 1, length - 1)).isEqualTo("key" + number);
      assertThat(java.util.Arrays.copyOfRange(page, key + length, key + length + value.length))
          .isEqualTo(value);
    }
    assertThat(spilled[0] + buffer.count()).isEqualTo(2000);
    // Four large records, each with a buffer of its own, and 200 KB of small ones.
    assertThat(spilled[1]).isBetween(4, 30);
  }

  @Test
  void pagesOfLargeRecordsGiveWayToEntriesOfSmallOnes() throws IOException {
    int[] spills = new int[1];
    RecordBuffer[] held = new RecordBuffer[1];
    held[0] =
        new RecordBuffer(
            1,
            32 << 20,
            false,
            () -> {
              spills[0]++;
              held[0].clear();
            });
    for (int number = 0; number < 3_000_000; number++) {
      held[0].begin();
      held[0].output().write(new byte[number < 100 ? 1_000_000 : 4]);
      held[0].keyDone();
      held[0].add(0, 0);
    }
    // 100 MB in pages of 32 MB, then 3 million records of 6 bytes, with an entry each.
    assertThat(spills[0]).isBetween(5, 9);
  }
}
