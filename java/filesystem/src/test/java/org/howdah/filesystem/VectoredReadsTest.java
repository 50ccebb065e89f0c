package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.hadoop.fs.FileRange;
import org.junit.jupiter.api.Test;

class VectoredReadsTest {
  private static final int LARGEST = 100_000;

  @Test
  void rangesAreReadTogetherWhereLittleLiesBetweenThemAndTheyAreNotTooLarge() throws Exception {
    ConcurrentSkipListSet<String> reads = new ConcurrentSkipListSet<>();
    VectoredReads vectored =
        new VectoredReads(
            (from, into) -> {
              reads.add(from + "+" + into.remaining());
              into.position(into.limit());
            },
            LARGEST);
    int[][] wanted = {
      {0, 1000},
      {1000, 1000},
      {10_000, 500}, // together
      {100_000, 1000}, // far away
      {300_000, 60_000},
      {360_000, 60_000}, // too large together
      {500_000, 2 * LARGEST} // alone
    };
    List<FileRange> ranges = new ArrayList<>();
    for (int[] one : wanted) {
      ranges.add(FileRange.createFileRange(one[0], one[1]));
    }
    vectored.start(ranges, 1_000_000, ByteBuffer::allocate);
    for (FileRange range : ranges) {
      assertThat(range.getData().get().remaining()).isEqualTo(range.getLength());
    }
    assertThat(reads)
        .containsExactlyInAnyOrder(
            "0+10500", "100000+1000", "300000+60000", "360000+60000", "500000+200000");
  }
}
