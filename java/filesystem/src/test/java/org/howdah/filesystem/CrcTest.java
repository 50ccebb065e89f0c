package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.hadoop.util.PureJavaCrc32C;
import org.junit.jupiter.api.Test;

class CrcTest {
  @Test
  void piecesJoinedHaveTheValueOfTheWhole() {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      byte[] bytes = new byte[random.nextInt(100_000)];
      random.nextBytes(bytes);
      int cut = random.nextInt(bytes.length + 1);

      int joined =
          Crc.joined(of(bytes, 0, cut), of(bytes, cut, bytes.length - cut), bytes.length - cut);

      PureJavaCrc32C hadoops = new PureJavaCrc32C();
      hadoops.update(bytes, 0, bytes.length);
      assertThat(joined).isEqualTo((int) hadoops.getValue()).isEqualTo(of(bytes, 0, bytes.length));
    }
  }

  @Test
  void bytesOutsideOfTheHeapCountAlike() {
    byte[] bytes = new byte[12345];
    new Random(4).nextBytes(bytes);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes);
    direct.flip();
    Crc crc = new Crc();
    crc.update(direct);
    assertThat(crc.take()).isEqualTo(of(bytes, 0, bytes.length));
    assertThat(direct.remaining()).isEqualTo(bytes.length);
  }

  private static int of(byte[] bytes, int offset, int length) {
    Crc crc = new Crc();
    crc.update(bytes, offset, length);
    return crc.take();
  }
}
