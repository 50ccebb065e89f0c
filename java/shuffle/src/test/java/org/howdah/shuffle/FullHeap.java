package org.howdah.shuffle;

import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;

/**
 * {@code FullHeap DIRECTORY HEAP BYTES}: takes arrays of so many bytes for map outputs until there
 * are no more, of a heap that is said to be so large, and prints how many there were.
 */
final class FullHeap {
  private static final int OTHER_WORK = 2000;
  private static final int PIECE = 50_000;

  private FullHeap() {}

  public static void main(String[] given) throws Exception {
    JobConf job = Segments.job(Paths.get(given[0]), 1);
    job.set("mapreduce.reduce.memory.totalbytes", given[1]);
    MapOutputs<Text, Text> outputs =
        new MapOutputs<>(Segments.context(job, new Segments.Counting(), null, null, null));
    int bytes = Integer.parseInt(given[2]);
    List<byte[]> held = new ArrayList<>();
    for (byte[] one; (one = outputs.take(bytes)) != null; ) {
      held.add(one);
    }
    int most = held.size();
    // Of the place of two, one of their size finds some, however the heap is divided.
    for (int free = 0; free < 2; free++) {
      held.remove(0);
      outputs.release(bytes);
    }
    byte[] again = outputs.take(bytes);
    long other = 0;
    for (int number = 0; number < OTHER_WORK; number++) {
      other += new byte[PIECE].length;
    }
    System.out.printf("held %d, then %s, beside %d%n", most, again == null ? "none" : "one", other);
  }
}
