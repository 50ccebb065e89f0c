package org.howdah.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Reads some keys of files of rows, at places that lie evenly over all of them. */
final class Sampler {
  private static final int PLACES = 10;

  private Sampler() {}

  /**
   * At most {@code most} keys of the rows in {@code directory}; names with _ or . in front are not
   * data.
   */
  static byte[][] sample(FileSystem files, Path directory, int most) throws IOException {
    FileStatus[] found =
        files.listStatus(
            directory, path -> !path.getName().startsWith("_") && !path.getName().startsWith("."));
    if (found.length == 0) {
      throw new FileNotFoundException("no rows in " + directory);
    }
    long rows = 0;
    for (FileStatus file : found) {
      rows += file.getLen() / TeraSort.ROW;
    }
    int places = (int) Math.min(PLACES, rows);
    int each = places == 0 ? 0 : (int) Math.max(1, Math.min(most, rows) / places);
    List<byte[]> keys = new ArrayList<>();
    long before = 0;
    int place = 0;
    for (FileStatus file : found) {
      long here = file.getLen() / TeraSort.ROW;
      try (FSDataInputStream in = files.open(file.getPath())) {
        for (; place < places && place * rows / places < before + here; place++) {
          long first = place * rows / places - before;
          read(in, first, (int) Math.min(each, here - first), keys);
        }
      }
      before += here;
    }
    return keys.toArray(new byte[0][]);
  }

  private static void read(FSDataInputStream in, long first, int count, List<byte[]> keys)
      throws IOException {
    byte[] block = new byte[count * TeraSort.ROW];
    in.readFully(first * TeraSort.ROW, block);
    for (int at = 0; at < block.length; at += TeraSort.ROW) {
      byte[] key = new byte[TeraSort.KEY];
      System.arraycopy(block, at, key, 0, TeraSort.KEY);
      keys.add(key);
    }
  }
}
