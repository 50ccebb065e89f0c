package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.Test;

/** How much memory a buffer takes. */
class RecordBufferTest {
  private static final long MIB = 1 << 20;

  /** A heap that says what it is told to say. */
  private static final class Told implements Heap {
    private long room = Long.MAX_VALUE;
    private boolean isTight;
    private int questions;
    private boolean hasNone;

    @Override
    public boolean hasRoom(long bytes) {
      questions++;
      ask();
      return bytes <= room;
    }

    @Override
    public boolean isTight(long bytes) {
      ask();
      return isTight;
    }

    /** Asking takes memory, too. */
    private void ask() {
      if (hasNone) {
        hasNone = false;
        throw new OutOfMemoryError("not even to ask");
      }
    }
  }

  private final Told heap = new Told();
  private int spills;
  private long largest;

  private RecordBuffer buffer(long least, long most) {
    RecordBuffer[] made = new RecordBuffer[1];
    made[0] =
        new RecordBuffer(
            2,
            least,
            most,
            heap,
            false,
            () -> {
              spills++;
              made[0].clear();
            });
    return made[0];
  }

  @Test
  void itsStreamCountsWhatIsWritten() throws IOException {
    RecordBuffer buffer = buffer(1 << 20, 1 << 20);
    DataOutputStream plain = new DataOutputStream(new ByteArrayOutputStream());
    buffer.begin();
    for (DataOutputStream out : new DataOutputStream[] {plain, buffer.output()}) {
      out.write(1);
      out.write(new byte[100], 7, 90);
      out.writeInt(out.size());
      out.writeUTF("text");
      new Text("more").write(out);
    }
    assertThat(buffer.output().size()).isEqualTo(plain.size());
  }

  private void fill(RecordBuffer buffer, long bytes, int length) throws IOException {
    byte[] value = new byte[length];
    for (long written = 0; written < bytes; written += length) {
      buffer.begin();
      buffer.keyDone();
      buffer.output().write(value);
      buffer.add(0, (int) (written / length) % 2);
      largest = Math.max(largest, buffer.memory());
    }
  }

  @Test
  void upToTheLeastTheHeapIsNotAsked() throws IOException {
    fill(buffer(40 * MIB, 200 * MIB), 12 * MIB, 100);
    assertThat(heap.questions).isZero();
    fill(buffer(40 * MIB, 40 * MIB), 200 * MIB, 100);
    assertThat(heap.questions).isZero();
  }

  @Test
  void aboveItTheHeapDecides() throws IOException {
    heap.room = 0;
    fill(buffer(20 * MIB, 200 * MIB), 100 * MIB, 100);
    assertThat(largest).isBetween(17 * MIB, 20 * MIB);
    assertThat(spills).isBetween(6, 9);
  }

  @Test
  void itIsAskedInSteps() throws IOException {
    fill(buffer(20 * MIB, 200 * MIB), 130 * MIB, 100);
    assertThat(spills).isZero();
    assertThat(heap.questions).isBetween(5, 35);
    fill(buffer(20 * MIB, 200 * MIB), 400 * MIB, 100_000);
    assertThat(largest).isBetween(150 * MIB, 201 * MIB);
  }

  // Promise (how-to/accelerate): A mapper that grows gets memory back from the sort
  @Test
  void whatIsMissedElsewhereIsGivenBack() throws IOException {
    RecordBuffer buffer = buffer(20 * MIB, 200 * MIB);
    fill(buffer, 100 * MIB, 100);
    assertThat(buffer.isInTheWay()).isFalse();
    heap.isTight = true;
    assertThat(buffer.isInTheWay()).isTrue();
    assertThat(buffer.hasRoomToSort()).isFalse();
    buffer.clear();
    assertThat(buffer.memory()).isLessThanOrEqualTo(20 * MIB);
    assertThat(buffer.isInTheWay()).isFalse();
    heap.room = 0;
    largest = 0;
    fill(buffer, 50 * MIB, 100);
    assertThat(largest).isBetween(15 * MIB, 20 * MIB);
  }

  @Test
  void aLargeRecordIsTakenWhateverTheHeapSays() throws IOException {
    heap.room = 0;
    RecordBuffer buffer = buffer(MIB, 200 * MIB);
    fill(buffer, 30 * MIB, (int) (10 * MIB));
    assertThat(spills).isEqualTo(2);
    fill(buffer, 10 * MIB, 100);
    assertThat(spills).isBetween(12, 25);
  }

  @Test
  void aBufferThatIsSaidToBeFullIsEmptied() throws IOException {
    RecordBuffer buffer = buffer(20 * MIB, 20 * MIB);
    fill(buffer, 1000, 100);
    buffer.fill();
    fill(buffer, 1000, 100);
    assertThat(spills).isEqualTo(1);
  }

  private static long number(RecordBuffer buffer, long entry) {
    byte[] page = buffer.page(entry);
    // Two lengths of a byte each are before it.
    int value = RecordBuffer.offset(entry) + 2;
    return ByteBuffer.wrap(page).getLong(value);
  }

  private static long add(RecordBuffer buffer, long number) throws IOException {
    buffer.begin();
    buffer.keyDone();
    buffer.output().writeLong(number);
    buffer.output().write(new byte[90]);
    return buffer.add(0, 0);
  }

  /** A mapper may go on after it. */
  @Test
  void whatWasAddedIsKeptWhenTheNextRecordFails() throws IOException {
    RecordBuffer buffer = buffer(2 * MIB, 200 * MIB);
    List<Long> entries = new ArrayList<>();
    long number = 0;
    heap.hasNone = true;
    while (number < 100_000) {
      try {
        entries.add(add(buffer, number));
        number++;
      } catch (OutOfMemoryError expected) {
        buffer.drop();
      }
      if (number % 1000 == 0) {
        buffer.drop();
      }
    }
    assertThat(heap.hasNone).isFalse();
    assertThat(spills).isZero();
    for (int index = 0; index < entries.size(); index++) {
      assertThat(number(buffer, entries.get(index))).isEqualTo(index);
    }
  }

  /** Their places are gone: what the buffer still counts must not be written once more. */
  @Test
  void recordsWhoseBufferCouldNotBeClearedAreNotSortedAgain() throws IOException {
    RecordBuffer buffer = buffer(2 * MIB, 200 * MIB);
    for (int number = 0; number < 50_000; number++) {
      add(buffer, number);
    }
    KeyOrder order = KeyOrders.of(BytesWritable.class, new BytesWritable.Comparator());
    new SortedRecords(buffer, 2, order, null, () -> {}).partition(0);
    heap.hasNone = true;
    assertThatThrownBy(buffer::clear).isInstanceOf(OutOfMemoryError.class);
    SortedRecords again = new SortedRecords(buffer, 2, order, null, () -> {});
    assertThatThrownBy(() -> again.partition(0)).isInstanceOf(IllegalStateException.class);
    assertThat(again.partition(1)).allMatch(run -> !hasNext(run));
  }

  private static boolean hasNext(RecordCursor run) {
    try {
      return run.next();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
