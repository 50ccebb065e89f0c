package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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

    @Override
    public boolean hasRoom(long bytes) {
      questions++;
      return bytes <= room;
    }

    @Override
    public boolean isTight(long bytes) {
      return isTight;
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
}
