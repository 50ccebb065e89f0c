package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class KeyOrdersTest {
  static List<Class<? extends WritableComparable<?>>> types() {
    return RandomKeys.TYPES;
  }

  private static void agree(Class<?> type, RawComparator<?> comparator) throws IOException {
    KeyOrder order = KeyOrders.of(type, comparator);
    assertThat(order.kind()).isNotEqualTo(KeyOrder.Kind.UNKNOWN);
    Random random = new Random(7);
    for (int round = 0; round < 50_000; round++) {
      DataOutputBuffer both = new DataOutputBuffer();
      both.writeInt(random.nextInt());
      int first = both.getLength();
      RandomKeys.next(type, random).write(both);
      int second = both.getLength();
      RandomKeys.next(type, random).write(both);
      int end = both.getLength();
      byte[] data = Arrays.copyOf(both.getData(), end);
      int compared = comparator.compare(data, first, second - first, data, second, end - second);
      int prefixes =
          Long.compareUnsigned(
              order.prefix(data, first, second - first), order.prefix(data, second, end - second));
      if (prefixes != 0) {
        assertThat(Integer.signum(compared)).isEqualTo(prefixes);
      } else if (order.kind() == KeyOrder.Kind.NUMBER) {
        assertThat(compared).isZero();
      }
    }
  }

  // Promise (how-to/accelerate): Keys of known types are sorted as their comparators sort them
  @ParameterizedTest
  @MethodSource("types")
  void thePrefixAgreesWithTheComparator(Class<? extends WritableComparable<?>> type)
      throws IOException {
    agree(type, WritableComparator.get(type));
  }

  // Promise (how-to/accelerate): Keys of known types are sorted as their comparators sort them
  @Test
  void decreasingNumbersToo() throws IOException {
    agree(LongWritable.class, new LongWritable.DecreasingComparator());
  }

  @Test
  void anOrderOfBytesIsOneThatSaysWhereTheyBegin() {
    assertThatThrownBy(
            () ->
                new KeyOrder(KeyOrder.Kind.BYTES) {
                  @Override
                  public long prefix(byte[] data, int start, int length) {
                    return 0;
                  }
                })
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("BYTES");
  }

  /** A comparator of a user's, which says nothing of itself. */
  private static final class Backwards extends WritableComparator {
    Backwards() {
      super(Text.class, true);
    }
  }

  // Promise (how-to/accelerate): Any other comparator decides itself
  @Test
  void ofAnotherComparatorNothingIsAssumed() {
    assertThat(KeyOrders.of(Text.class, new Backwards()).kind()).isEqualTo(KeyOrder.Kind.UNKNOWN);
    assertThat(KeyOrders.of(Text.class, new WritableComparator(Text.class, true) {}).kind())
        .isEqualTo(KeyOrder.Kind.UNKNOWN);
  }
}
