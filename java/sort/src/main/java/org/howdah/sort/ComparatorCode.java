package org.howdah.sort;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;

/** Recognises the order of a comparator by the code of its {@code compare} of serialized keys. */
final class ComparatorCode {
  private static final Class<?>[] RAW = {
    byte[].class, int.class, int.class, byte[].class, int.class, int.class
  };
  private static final String RAW_DESCRIPTOR = "([BII[BII)I";

  /**
   * {@code return compareBytes(b1, s1, l1, b2, s2, l2)}, as any compiler writes it: aload_1,
   * iload_2, iload_3, aload 4, iload 5, iload 6, invokestatic (whose two bytes of operand are left
   * out here), ireturn.
   */
  private static final byte[] BEFORE = {0x2b, 0x1c, 0x1d, 0x19, 4, 0x15, 5, 0x15, 6, (byte) 0xb8};

  private static final byte RETURN = (byte) 0xac;

  private ComparatorCode() {}

  /**
   * Whether the comparator does nothing but to compare all bytes of two keys by {@link
   * WritableComparator#compareBytes}, as the ones of many keys of fixed size do (the secondary sort
   * of Hadoop's examples is one). False where its code cannot be had. Asked once per task.
   */
  static boolean comparesBytes(RawComparator<?> comparator) {
    try {
      Class<?> declaring = comparator.getClass().getMethod("compare", RAW).getDeclaringClass();
      ClassFile file = ClassFile.of(declaring);
      byte[] code = file.code("compare", RAW_DESCRIPTOR);
      if (code == null
          || code.length != BEFORE.length + 3
          || !Arrays.equals(Arrays.copyOf(code, BEFORE.length), BEFORE)
          || code[code.length - 1] != RETURN) {
        return false;
      }
      int operand = (code[BEFORE.length] & 0xFF) << 8 | code[BEFORE.length + 1] & 0xFF;
      return isCompareBytes(file.method(operand), declaring.getClassLoader());
    } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError unknown) {
      return false;
    }
  }

  /** The class that is named may be one that inherits it, and one in between may hide it. */
  private static boolean isCompareBytes(ClassFile.Named called, ClassLoader loader)
      throws ClassNotFoundException {
    if (!called.name.equals("compareBytes") || !called.descriptor.equals(RAW_DESCRIPTOR)) {
      return false;
    }
    for (Class<?> owner = Class.forName(called.owner, false, loader);
        owner != null;
        owner = owner.getSuperclass()) {
      try {
        owner.getDeclaredMethod(called.name, RAW);
        return owner == WritableComparator.class;
      } catch (NoSuchMethodException inherited) {
        // looked for in the class above
      }
    }
    return false;
  }
}
