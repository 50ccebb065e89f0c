package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.XAttrSetFlag;

/**
 * Extended attributes: those of the name space {@code user} through Java, any other ({@code
 * trusted}, {@code security}, {@code lustre}) through JNA. Those that this file system keeps for
 * itself are not seen.
 */
final class Attributes {
  private static final String USER = "user.";
  private static final String SYSTEM = "system.";

  private Attributes() {}

  /** Whether the file system of a path has any. */
  static boolean areSupported(Path path) {
    try {
      return Files.getFileStore(path).supportsFileAttributeView(UserDefinedFileAttributeView.class);
    } catch (IOException e) {
      return false;
    }
  }

  /** Null if there is no such attribute. */
  static byte[] get(Path path, String name) throws IOException {
    if (!checked(name).startsWith(USER)) {
      return calls(name).attribute(path, name);
    }
    if (!view(path).list().contains(bare(name))) {
      return null;
    }
    ByteBuffer value = ByteBuffer.allocate(view(path).size(bare(name)));
    view(path).read(bare(name), value);
    return value.array();
  }

  /**
   * @throws IOException if the attribute is there without {@code REPLACE}, or is not there without
   *     {@code CREATE}
   */
  static void set(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    XAttrSetFlag.validate(name, get(path, name) != null, flags);
    byte[] bytes = value == null ? new byte[0] : value;
    if (name.startsWith(USER)) {
      view(path).write(bare(name), ByteBuffer.wrap(bytes));
    } else {
      calls(name).setAttribute(path, name, bytes);
    }
  }

  static void remove(Path path, String name) throws IOException {
    if (get(path, name) == null) {
      throw new Refusal(path + " has no attribute " + name);
    }
    if (name.startsWith(USER)) {
      view(path).delete(bare(name));
    } else {
      calls(name).removeAttribute(path, name);
    }
  }

  /**
   * Those of the name space {@code user}, with it. What others have is the machine's or the
   * storage's own, such as where a file lies, and no copy of the file should get it.
   */
  static List<String> list(Path path) throws IOException {
    List<String> names = new ArrayList<>();
    view(path).list().forEach(name -> names.add(USER + name));
    names.remove(USER + Checksums.ATTRIBUTE);
    return names;
  }

  private static String checked(String name) throws IOException {
    if (name.indexOf('.') <= 0 || name.endsWith(".")) {
      throw new Refusal(
          "attribute " + name + ": a name has a name space before it, as in user.colour");
    }
    if (name.equals(USER + Checksums.ATTRIBUTE) || name.startsWith(SYSTEM)) {
      throw new Refusal("attribute " + name + " is not for users");
    }
    return name;
  }

  private static String bare(String name) {
    return name.substring(USER.length());
  }

  private static UserDefinedFileAttributeView view(Path path) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
    if (view == null) {
      throw new Refusal(path + ": extended attributes are not supported here");
    }
    return view;
  }

  private static Native calls(String name) throws IOException {
    Native calls = Native.get();
    if (calls == null) {
      throw new Refusal(
          "attribute " + name + ": only those of the name space user can be reached without JNA");
    }
    return calls;
  }
}
