package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * {@code ManyWriters DIRECTORY}: begins atomic files until there is no room for their buffers, and
 * closes all of them; prints what the one said for which there was none.
 */
final class ManyWriters {
  private static final int BYTES = 200_000;

  /** Larger ones would go to the file without a buffer. */
  private static final int PIECE = 1000;

  private ManyWriters() {}

  public static void main(String[] given) throws IOException {
    FileSystem files = TemporaryMount.open(Paths.get(given[0]), "create.atomic", "true");
    List<FSDataOutputStream> open = new ArrayList<>();
    while (true) {
      FSDataOutputStream out = files.create(new Path("/file" + open.size()));
      open.add(out);
      try {
        for (int written = 0; written < BYTES; written += PIECE) {
          out.write(new byte[PIECE]);
        }
      } catch (IOException full) {
        System.out.println("write: " + full.getMessage());
        break;
      }
    }
    for (FSDataOutputStream out : open) {
      try {
        out.close();
      } catch (IOException incomplete) {
        System.out.println("close: " + incomplete.getMessage());
      }
    }
    System.out.println("begun: " + open.size());
  }
}
