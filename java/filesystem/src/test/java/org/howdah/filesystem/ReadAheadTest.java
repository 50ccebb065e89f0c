package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
  private static final int STEP = 1 << 20;

  private final Set<Long> asked = new ConcurrentSkipListSet<>();

  private ByteBuffer chunk(long offset) {
    asked.add(offset);
    return ByteBuffer.allocate(Buffers.untilBoundary(offset, STEP));
  }

  @Test
  void whereverReadingBeginsTheNextChunksAreAligned() throws IOException {
    long begin = 3 * STEP + 12_345;
    try (ReadAhead ahead = new ReadAhead(this::chunk, new Speed(1), STEP, 2, 8L * STEP)) {
      long at = begin;
      while (at < 8L * STEP) {
        at += ahead.take(at).remaining();
      }
    }
    assertThat(asked).containsExactly(begin, 4L * STEP, 5L * STEP, 6L * STEP, 7L * STEP);
  }
}
