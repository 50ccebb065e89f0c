package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
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

  /** Text numbers, each of which takes time to read. */
  private static final class Keys extends RecordCursor {
    private final Slow slow;
    private int left = 500;

    Keys(Slow slow) {
      this.slow = slow;
    }

    @Override
    public boolean next() {
      slow.work();
      data = new byte[] {3, '9', '9', '9'};
      keyLength = data.length;
      return left-- > 0;
    }
  }

  /** The most reads of a merge between two reports, and the most comparisons. */
  private static int[] unreported(int cursors) throws IOException {
    Slow reads = new Slow();
    Slow comparisons = new Slow();
    List<Keys> keys = new ArrayList<>();
    for (int number = 0; number < cursors; number++) {
      keys.add(new Keys(reads));
    }
    MergedRecords merged =
        new MergedRecords(
            keys,
            KeyOrder.UNKNOWN,
            comparisons.comparator(Text.class),
            1,
            () -> {
              reads.progress();
              comparisons.progress();
            });
    while (merged.next()) {
      merged.current();
    }
    return new int[] {reads.most(), comparisons.most()};
  }

  // Promise (how-to/accelerate): A task with a slow comparator reports progress
  @Test
  void aMergeThatComparesOrReadsSlowlyReportsProgress() throws IOException {
    for (int cursors : new int[] {1, 200}) {
      int[] most = unreported(cursors);
      assertThat(most[0]).isBetween(1, 65);
      // A record of 200 cursors takes eight at most.
      assertThat(most[1]).isLessThanOrEqualTo(8 * 65);
    }
  }

  @Test
  void whatHasFailedDoesNotGoOnWithoutTheRest() throws IOException {
    RawComparator<?> comparator = WritableComparator.get(LongWritable.class);
    KeyOrder order = KeyOrders.of(LongWritable.class, comparator);
    MergedRecords merged =
        new MergedRecords(
            Arrays.asList(new Numbers(5, false), new Numbers(2, true)),
            order,
            comparator,
            1,
            () -> {});
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
