package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.WritableUtils;
import org.junit.jupiter.api.Test;

class SegmentFormatTest {
  @Test
  void lengthsAreWrittenAndReadAsHadoopDoes() throws IOException {
    Random random = new Random(1);
    for (int round = 0; round < 100_000; round++) {
      int length = round < 1000 ? round : random.nextInt() >>> (1 + random.nextInt(31));
      DataOutputBuffer hadoops = new DataOutputBuffer();
      WritableUtils.writeVInt(hadoops, length);
      byte[] ours = new byte[10];
      assertThat(SegmentFormat.write(ours, 0, length)).isEqualTo(hadoops.getLength());
      assertThat(SegmentFormat.size(length)).isEqualTo(hadoops.getLength());
      assertThat(SegmentFormat.sizeOf(ours[0])).isEqualTo(hadoops.getLength());
      DataInputBuffer in = new DataInputBuffer();
      in.reset(ours, 10);
      assertThat(WritableUtils.readVInt(in)).isEqualTo(length);
      assertThat(SegmentFormat.read(ours, 0)).isEqualTo(length);
    }
  }

  @Test
  void theMarkOfTheEndIsALengthOfMinusOne() {
    assertThat(SegmentFormat.read(new byte[] {SegmentFormat.END}, 0)).isEqualTo(-1);
  }
}
