package org.howdah.filesystem;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is mounted where, by {@code /proc/self/mountinfo} (proc(5)). Java's own way takes the first
 * of several that are mounted at one place, which is the automounter and not what it has mounted.
 */
final class MountTable {
  private static final int POINT = 4;

  /** A blank, a tab, a newline or a backslash, as the kernel writes it: in octal. */
  private static final Pattern ESCAPED = Pattern.compile("\\\\([0-7]{3})");

  private final List<String> lines;

  MountTable(List<String> lines) {
    this.lines = lines;
  }

  static MountTable ofThisProcess() throws IOException {
    return new MountTable(
        Arrays.asList(
            new String(
                    Files.readAllBytes(Paths.get("/proc/self/mountinfo")), StandardCharsets.UTF_8)
                .split("\n")));
  }

  /**
   * The type of the file system that a place is on, as {@code df -T} names it; null if the table
   * does not have it.
   *
   * @param real absolute, without links
   */
  String type(Path real) {
    // As text: a name that this JVM cannot write is no path to it, but may be in the table.
    String place = real.toString();
    String deepest = "";
    String type = null;
    for (String line : lines) {
      // Optional fields end with a hyphen.
      String[] parts = line.split(" - ", 2);
      String[] fields = parts[0].split(" ");
      if (parts.length < 2 || fields.length <= POINT) {
        continue;
      }
      String point = unescaped(fields[POINT]);
      if (isAtOrUnder(place, point) && point.length() >= deepest.length()) {
        deepest = point;
        type = parts[1].split(" ")[0];
      }
    }
    return type;
  }

  private static boolean isAtOrUnder(String place, String point) {
    return point.equals("/") || place.equals(point) || place.startsWith(point + "/");
  }

  private static String unescaped(String text) {
    Matcher escaped = ESCAPED.matcher(text);
    StringBuffer plain = new StringBuffer();
    while (escaped.find()) {
      String character = String.valueOf((char) Integer.parseInt(escaped.group(1), 8));
      escaped.appendReplacement(plain, Matcher.quoteReplacement(character));
    }
    return escaped.appendTail(plain).toString();
  }
}
