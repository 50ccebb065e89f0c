package org.howdah.filesystem;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.hadoop.fs.FileStatus;

/**
 * The order in which HDFS lists a directory: by the bytes of the names in UTF-8. HDFS compares them
 * as signed numbers, so that a character beyond ASCII comes before one of ASCII. Programs written
 * for HDFS take the place of a file in a listing for the number of its partition.
 */
final class NameOrder {
  /** Bytes that are close together are compared several times as fast as those in a status. */
  private static final class Named {
    private final byte[] name;
    private final FileStatus status;

    Named(FileStatus status) {
      name = bytes(status);
      this.status = status;
    }
  }

  private NameOrder() {}

  /**
   * @param statuses in one directory
   */
  static void sort(FileStatus[] statuses) {
    Named[] named = new Named[statuses.length];
    Arrays.setAll(named, i -> new Named(statuses[i]));
    Arrays.sort(named, (one, other) -> compare(one.name, other.name));
    Arrays.setAll(statuses, i -> named[i].status);
  }

  static int compare(FileStatus one, FileStatus other) {
    return compare(bytes(one), bytes(other));
  }

  /** Compares names in UTF-8. */
  static int compare(byte[] one, byte[] other) {
    int end = Math.min(one.length, other.length);
    for (int at = 0; at < end; at++) {
      if (one[at] != other[at]) {
        return one[at] - other[at];
      }
    }
    return one.length - other.length;
  }

  private static byte[] bytes(FileStatus status) {
    return status.getPath().getName().getBytes(StandardCharsets.UTF_8);
  }
}
