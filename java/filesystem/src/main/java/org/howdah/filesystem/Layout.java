package org.howdah.filesystem;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/**
 * How one file is to be spread over Lustre's servers, read from options of {@code lfs setstripe}.
 */
final class Layout {
  /** {@code LUSTRE_EOF} of {@code lustre_user.h}: a component's end that is the file's. */
  static final long END_OF_FILE = -1;

  /** A stripe count: as many as there are servers. */
  static final long ALL = -1;

  private static final String UNITS = "kmgt";

  /** What is null stays as the directory has it. */
  static final class Component {
    final long start;
    long end = END_OF_FILE;
    Long count;
    Long size;
    String pool;

    /** As {@code lfs} does, it takes over what the one before it has. */
    Component(Component before) {
      start = before == null ? 0 : before.end;
      if (before != null) {
        count = before.count;
        size = before.size;
        pool = before.pool;
      }
    }
  }

  /** In the order of the file's bytes; of more than one, each ends where the next begins. */
  final List<Component> components;

  private Layout(List<Component> components) {
    this.components = Collections.unmodifiableList(components);
  }

  /**
   * @param options {@code -c COUNT}, {@code -S SIZE} and {@code -p POOL}, or several of these, each
   *     after the {@code -E END} of its part of the file
   * @throws IllegalArgumentException for anything else
   */
  static Layout of(String options) {
    List<Component> components = new ArrayList<>();
    Iterator<String> words = Arrays.asList(options.trim().split("\\s+")).iterator();
    Component last = new Component(null);
    components.add(last);
    boolean composite = false;
    while (words.hasNext()) {
      String option = words.next();
      if (!option.matches("-[cSpE]") || !words.hasNext()) {
        throw wrong(options, option + " is not -c, -S, -p or -E with a value");
      }
      String value = words.next();
      switch (option.charAt(1)) {
        case 'c':
          last.count = count(options, value);
          break;
        case 'S':
          last.size = bytes(options, value);
          break;
        case 'p':
          last.pool = value;
          break;
        default:
          if (composite || last.count != null || last.size != null || last.pool != null) {
            if (!composite || last.end == END_OF_FILE) {
              throw wrong(options, "-E " + value + " comes too late");
            }
            last = new Component(last);
            components.add(last);
          }
          composite = true;
          last.end = end(options, value);
          if (last.end != END_OF_FILE && last.end <= last.start) {
            throw wrong(options, "-E " + value + " is not behind the end before it");
          }
      }
    }
    return new Layout(components);
  }

  private static long count(String options, String value) {
    if (!value.matches("-1|[1-9][0-9]{0,8}")) {
      throw wrong(options, "-c " + value + " is no number of stripes");
    }
    return Long.parseLong(value);
  }

  private static long end(String options, String value) {
    return value.matches("-1|eof|EOF") ? END_OF_FILE : bytes(options, value);
  }

  private static long bytes(String options, String value) {
    if (!value.matches("[1-9][0-9]{0,9}[kKmMgGtT]?")) {
      throw wrong(options, value + " is no size, such as 4M");
    }
    int unit = UNITS.indexOf(value.toLowerCase(Locale.ROOT).charAt(value.length() - 1)) + 1;
    String digits = unit == 0 ? value : value.substring(0, value.length() - 1);
    return Math.multiplyExact(Long.parseLong(digits), 1L << 10 * unit);
  }

  private static IllegalArgumentException wrong(String options, String why) {
    return new IllegalArgumentException("layout \"" + options + "\": " + why);
  }
}
