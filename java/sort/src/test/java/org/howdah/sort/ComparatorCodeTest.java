package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.apache.hadoop.examples.SecondarySort;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ComparatorCodeTest {
  private static final String RAW = "([BII[BII)I";

  /** As in the examples of Hadoop, with what else a class can have beside the method. */
  public static class Inherited extends WritableComparator {
    private static final String ODD = "\0 ä 𝄞";
    private final long large = 1L << 40;
    private final double odd = 1e300;
    private final float small = 1e-30f;
    private final int number = 1 << 20;

    public Inherited() {
      super(Text.class);
    }

    LongSupplier others() {
      return () -> (long) (large + odd + small + number + ODD.length());
    }

    int compare(byte[] one, byte[] other) {
      return compare(one, 0, one.length, other, 0, other.length);
    }

    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return compareBytes(b1, s1, l1, b2, s2, l2);
    }
  }

  /** No code of its own. */
  public static class Sub extends Inherited {}

  /** A comparator that is none of Hadoop's. */
  public abstract static class Raw implements RawComparator<Text> {
    @Override
    public int compare(Text one, Text other) {
      throw new UnsupportedOperationException();
    }
  }

  public static class Named extends Raw {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return WritableComparator.compareBytes(b1, s1, l1, b2, s2, l2);
    }
  }

  public static class Backwards extends Raw {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return WritableComparator.compareBytes(b2, s2, l2, b1, s1, l1);
    }
  }

  public static class Negated extends Raw {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return -WritableComparator.compareBytes(b1, s1, l1, b2, s2, l2);
    }
  }

  public static class Beginning extends Raw {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return WritableComparator.compareBytes(b1, s1, 4, b2, s2, 4);
    }
  }

  public static class Overridden extends Inherited {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return l1 - l2;
    }
  }

  public static class Hidden extends WritableComparator {
    public Hidden() {
      super(Text.class);
    }

    public static int compareBytes(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return l1 - l2;
    }

    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return compareBytes(b1, s1, l1, b2, s2, l2);
    }
  }

  public static class OtherMethod extends Raw {
    static int compareKeys(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return l1 - l2;
    }

    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return compareKeys(b1, s1, l1, b2, s2, l2);
    }
  }

  /** A method of the right name that is not the one of {@link WritableComparator}. */
  public static class Foreign extends Raw {
    @Override
    public int compare(byte[] b1, int s1, int l1, byte[] b2, int s2, int l2) {
      return Hidden.compareBytes(b1, s1, l1, b2, s2, l2);
    }
  }

  // Promise (how-to/accelerate): A comparator that only compares bytes is recognised by its
  // compiled code
  @ParameterizedTest
  @ValueSource(
      classes = {Inherited.class, Sub.class, Named.class, SecondarySort.IntPair.Comparator.class})
  void theseOnlyCompareBytes(Class<? extends RawComparator<?>> type) throws Exception {
    assertThat(ComparatorCode.comparesBytes(type.getConstructor().newInstance())).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Backwards.class,
        Negated.class,
        Beginning.class,
        Overridden.class,
        Hidden.class,
        OtherMethod.class,
        Foreign.class,
        Text.Comparator.class,
        LongWritable.Comparator.class,
        SecondarySort.FirstGroupingComparator.class
      })
  void theseDoSomethingElse(Class<? extends RawComparator<?>> type) throws Exception {
    assertThat(ComparatorCode.comparesBytes(type.getConstructor().newInstance())).isFalse();
  }

  /** Loads classes from wherever, while the files that it finds are its parent's. */
  private static final class Elsewhere extends ClassLoader {
    Class<?> load(Class<?> type) throws IOException {
      byte[] code = ClassFile.bytes(type);
      return defineClass(type.getName(), code, 0, code.length);
    }
  }

  @Test
  void aComparatorWhoseFileMayBeAnotherIsNotKnown() throws Exception {
    Object made = new Elsewhere().load(Inherited.class).getConstructor().newInstance();
    assertThat(ComparatorCode.comparesBytes((RawComparator<?>) made)).isFalse();
  }

  // Promise (how-to/accelerate): A comparator that only compares bytes is recognised by its
  // compiled code
  @Test
  void theOrderIsThatOfTheBytes() {
    KeyOrder order = KeyOrders.of(Text.class, new Inherited());
    assertThat(order.kind()).isEqualTo(KeyOrder.Kind.BYTES);
    assertThat(order.prefix(new byte[] {9, -1, 2}, 1, 2)).isEqualTo(0xFF02L << 48);
  }

  @Test
  void anotherMethodOfTheSameNameIsNotTaken() throws IOException {
    ClassFile file = ClassFile.of(Inherited.class);
    assertThat(file.code("compare", RAW)).hasSize(13);
    assertThat(file.code("compare", "([B[B)I")).isNotEqualTo(file.code("compare", RAW)).isNotNull();
    assertThat(file.code("compare", "(I)I")).isNull();
  }

  @Test
  void aMethodWithoutCodeHasNone() throws IOException {
    assertThat(ClassFile.of(RawComparator.class).code("compare", RAW)).isNull();
  }

  /** Cut off anywhere, it is an exception, never an endless loop or another method's code. */
  @Test
  void aFileThatIsCutOffIsRefused() throws IOException {
    byte[] whole = ClassFile.bytes(Inherited.class);
    byte[] code = new ClassFile(whole).code("compare", RAW);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      try {
        assertThat(new ClassFile(cut).code("compare", RAW)).isEqualTo(code);
      } catch (RuntimeException refused) {
        continue;
      }
    }
  }

  @Test
  void aClassThatNoFileBelongsToIsSaid() {
    assertThatThrownBy(() -> ClassFile.bytes(int[].class)).isInstanceOf(IOException.class);
  }
}
