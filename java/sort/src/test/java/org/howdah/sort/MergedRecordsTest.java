package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.junit.jupiter.api.Test;

class MergedRecordsTest {
  /** The numbers up to a last one, after which it fails once, if it is damaged, and then ends. */
  private static final class Numbers extends RecordCursor {
    private final int last;
    private boolean isDamaged;
    private int number;

    Numbers(int last, boolean isDamaged) {
      this.last = last;
      this.isDamaged = isDamaged;
      keyLength = Long.BYTES;
    }

    @Override
    public boolean next() throws IOException {
      if (number == last) {
        boolean fails = isDamaged;
        isDamaged = false;
        if (fails) {
          throw new IOException("damaged");
        }
        return false;
      }
      data = new byte[Long.BYTES];
      data[Long.BYTES - 1] = (byte) number++;
      return true;
    }
  }

  @Test
  void whatHasFailedDoesNotGoOnWithoutTheRest() throws IOException {
    RawComparator<?> comparator = WritableComparator.get(LongWritable.class);
    KeyOrder order = KeyOrders.of(LongWritable.class, comparator);
    MergedRecords merged =
        new MergedRecords(
            Arrays.asList(new Numbers(5, false), new Numbers(2, true)), order, comparator, 1);
    for (int record = 0; record < 4; record++) {
      assertThat(merged.next()).isTrue();
      merged.rethrow();
    }
    assertThatThrownBy(merged::next).isInstanceOf(IOException.class).hasMessage("damaged");
    assertThatThrownBy(merged::next)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("damaged");
    assertThatThrownBy(merged::rethrow).isInstanceOf(IOException.class);
  }
}
