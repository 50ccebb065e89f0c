package org.howdah.sort;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import org.apache.hadoop.io.IOUtils;

/**
 * The compiled form of a class, as far as is needed to recognise the code of a method (The Java
 * Virtual Machine Specification, chapter 4). Where a file is not as specified, methods throw a
 * {@link RuntimeException}.
 */
final class ClassFile {
  /** A method as the code of another names it. */
  static final class Named {
    final String owner;
    final String name;
    final String descriptor;

    private Named(String owner, String name, String descriptor) {
      this.owner = owner.replace('/', '.');
      this.name = name;
      this.descriptor = descriptor;
    }
  }

  private final ByteBuffer file;

  /** Where the constant of an index is in the file: at its tag. */
  private final int[] constants;

  /** Where what follows the constants begins. */
  private final int members;

  ClassFile(byte[] bytes) {
    file = ByteBuffer.wrap(bytes);
    file.position(Integer.BYTES + 2 * Short.BYTES);
    constants = new int[number()];
    for (int index = 1; index < constants.length; index++) {
      constants[index] = file.position();
      int tag = file.get();
      skip(sizeOf(tag));
      if (tag == 5 || tag == 6) {
        index++; // the specification gives a long and a double two places
      }
    }
    members = file.position();
  }

  /** Reads the file that {@code type} was loaded from. */
  static ClassFile of(Class<?> type) throws IOException {
    return new ClassFile(bytes(type));
  }

  /**
   * The whole file that {@code type} was loaded from.
   *
   * @throws FileNotFoundException if there is none where the class is from; another loader may have
   *     another class of that name
   */
  static byte[] bytes(Class<?> type) throws IOException {
    String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
    URL found = type.getResource(file);
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (found == null
        || source == null
        || source.getLocation() == null
        || !found.toString().contains(source.getLocation().toString())) {
      throw new FileNotFoundException("no class file of " + type.getName());
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    try (InputStream code = found.openStream()) {
      IOUtils.copyBytes(code, whole, 4096);
    }
    return whole.toByteArray();
  }

  /** The instructions of a method, or null where the class declares no such method with code. */
  byte[] code(String name, String descriptor) {
    file.position(members);
    skip(3 * Short.BYTES);
    skip(number() * Short.BYTES);
    for (int field = number(); field > 0; field--) {
      skip(3 * Short.BYTES);
      codeAttribute();
    }
    for (int method = number(); method > 0; method--) {
      skip(Short.BYTES);
      String itsName = text(number());
      String itsDescriptor = text(number());
      byte[] code = codeAttribute();
      if (itsName.equals(name) && itsDescriptor.equals(descriptor)) {
        return code;
      }
    }
    return null;
  }

  /** The method that the constant at {@code index} names. */
  Named method(int index) {
    int at = constants[index] + 1;
    int nameAndType = constants[number(at + Short.BYTES)] + 1;
    return new Named(
        text(number(constants[number(at)] + 1)),
        text(number(nameAndType)),
        text(number(nameAndType + Short.BYTES)));
  }

  /** Passes the attributes of a field or a method; the instructions among them, or null. */
  private byte[] codeAttribute() {
    byte[] code = null;
    for (int attribute = number(); attribute > 0; attribute--) {
      boolean isCode = text(number()).equals("Code");
      int length = file.getInt();
      int end = file.position() + length;
      if (isCode) {
        skip(2 * Short.BYTES);
        code = new byte[file.getInt()];
        file.get(code);
      }
      file.position(end);
    }
    return code;
  }

  private String text(int index) {
    int at = constants[index] + 1;
    return new String(file.array(), at + Short.BYTES, number(at), StandardCharsets.UTF_8);
  }

  private int number() {
    return file.getShort() & 0xFFFF;
  }

  private int number(int at) {
    return file.getShort(at) & 0xFFFF;
  }

  private void skip(int bytes) {
    file.position(file.position() + bytes);
  }

  /** The size of a constant after its tag (table 4.4-A of the specification). */
  private int sizeOf(int tag) {
    switch (tag) {
      case 1:
        return Short.BYTES + number(file.position());
      case 5:
      case 6:
        return 8;
      case 7:
      case 8:
      case 16:
      case 19:
      case 20:
        return 2;
      case 15:
        return 3;
      case 3:
      case 4:
      case 9:
      case 10:
      case 11:
      case 12:
      case 17:
      case 18:
        return 4;
      default:
        throw new IllegalArgumentException("constant of unknown tag " + tag);
    }
  }
}
