package org.howdah.sort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.WritableComparator;

/**
 * Programs for JVMs of 200 MiB of heap, started by {@link SmallHeapTest}: each fills a buffer with
 * records and looks at all that it gives. Their results are their exit codes, and what they print.
 */
final class SmallHeap {
  private static final int MIB = 1 << 20;
  private static final int PIECE = 100_000;

  private final WritableComparator comparator = WritableComparator.get(IntWritable.class);
  private final KeyOrder order = KeyOrders.of(IntWritable.class, comparator);
  private final RecordBuffer buffer;
  private final FoldTable folded;
  private final List<byte[]> mapper = new ArrayList<>();
  private int spills;
  private int runs;
  private long keys;
  private int count;

  private SmallHeap(long least, long most) {
    this(least, most, null);
  }

  private SmallHeap(long least, long most, Fold fold) {
    Heap heap = most > least ? new TaskHeap() : Heap.ANY;
    // The table does not count: it is to find no memory.
    buffer = new RecordBuffer(1, least, most, heap, false, this::spill);
    folded = fold == null ? null : new FoldTable(buffer, fold);
  }

  /** What a mapper holds itself: percent of the heap. */
  private void hold(int percent) {
    for (long left = Runtime.getRuntime().maxMemory() / 100 * percent; left > 0; left -= PIECE) {
      mapper.add(new byte[PIECE]);
    }
  }

  private void spill() throws IOException {
    spills++;
    look();
    buffer.clear();
    if (folded != null) {
      folded.clear();
    }
  }

  private void look() throws IOException {
    List<RecordCursor> found =
        new SortedRecords(buffer, 1, order, comparator, () -> {}).partition(0);
    runs = Math.max(runs, found.size());
    MergedRecords merged = new MergedRecords(found, order, comparator, 1, () -> {});
    int last = Integer.MIN_VALUE;
    while (merged.next()) {
      RecordCursor record = merged.current();
      int key = WritableComparator.readInt(record.data(), record.keyStart());
      check(key >= last, key + " comes after " + last);
      last = key;
      keys -= key;
      count--;
    }
  }

  private static void check(boolean isSo, String otherwise) {
    if (!isSo) {
      throw new AssertionError(otherwise);
    }
  }

  /** Writes records with values of {@code bytes}; the mapper makes some garbage, as mappers do. */
  private void write(int records, int bytes) throws IOException {
    byte[] value = new byte[bytes];
    for (int number = 0; number < records; number++) {
      int key = number * 0x9E3779B9;
      buffer.begin();
      buffer.output().writeInt(key);
      buffer.keyDone();
      buffer.output().write(value);
      if (folded != null) {
        check(!folded.fold(0), "no key comes twice");
      }
      long entry =
          buffer.add(order.prefix(buffer.data(), buffer.keyStart(), buffer.keyLength()), 0);
      if (folded != null) {
        folded.put(entry);
      }
      keys += key;
      count++;
      if (number % 4096 == 0) {
        value = new byte[bytes];
        if (buffer.isInTheWay()) {
          spill();
        }
      }
    }
  }

  private void end() throws IOException {
    look();
    check(count == 0 && keys == 0, count + " records are missing, keys " + keys);
    check(!mapper.contains(null), "held to the end");
    System.out.println("spills " + spills + " runs " + runs);
  }

  public static void main(String[] arguments) throws IOException {
    long half = Runtime.getRuntime().maxMemory() / 2;
    switch (arguments[0]) {
      case "alone":
        {
          SmallHeap map = new SmallHeap(10L * MIB, half);
          map.write((int) (half * 9 / 10 / (90 + 4 + 2 + 32)), 90);
          map.end();
          break;
        }
      case "full":
        {
          SmallHeap map = new SmallHeap(10L * MIB, half);
          map.hold(60);
          map.write(3_000_000, 90);
          map.end();
          break;
        }
      case "growing":
        {
          SmallHeap map = new SmallHeap(10L * MIB, half);
          for (int part = 0; part < 60; part++) {
            map.write(150_000, 90);
            map.hold(1);
          }
          map.end();
          break;
        }
      case "told":
        {
          // As much as there is: the arrays for sorting have no place.
          SmallHeap map = new SmallHeap(2 * half, 2 * half);
          map.write(12_000_000, 2);
          map.end();
          break;
        }
      case "folded":
        {
          // The table has no place, either.
          SmallHeap map = new SmallHeap(2 * half, 2 * half, (a, at, length, b, from, more) -> true);
          map.write(6_000_000, 2);
          map.end();
          break;
        }
      case "large":
        {
          SmallHeap map = new SmallHeap(10L * MIB, 10L * MIB);
          map.buffer.begin();
          try {
            map.buffer.output().write(new byte[(int) (half * 6 / 5)]);
            throw new AssertionError("there was room");
          } catch (OutOfMemoryError expected) {
            map.buffer.drop();
          }
          map.write(300_000, 90);
          map.end();
          break;
        }
      default:
        throw new IllegalArgumentException(Arrays.toString(arguments));
    }
  }
}
