package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PairsTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 1000, 65536, 999_983})
  void everyPairIsThereOnce(long total) {
    BitSet seen = new BitSet();
    for (long number = 0; number < total; number++) {
      seen.set(Math.toIntExact(Pairs.code(number, total)));
    }
    assertThat(seen.cardinality()).isEqualTo((int) total);
    assertThat(seen.length()).isEqualTo((int) total);
  }

  @Test
  void theLargestTotalDoesNotOverflow() {
    for (long number = Pairs.MOST - 5; number < Pairs.MOST; number++) {
      assertThat(Pairs.code(number, Pairs.MOST)).isBetween(0L, Pairs.MOST - 1);
    }
  }

  @TempDir Path directory;

  private long errorsOf(String content) throws Exception {
    write("part-r-00000", content);
    return found(PairCheck.Found.ERRORS);
  }

  private void write(String file, String content) throws IOException {
    Files.write(directory.resolve(file), content.getBytes(StandardCharsets.US_ASCII));
  }

  private long found(PairCheck.Found what) throws Exception {
    Configuration conf = LocalJobs.settings();
    conf.setInt(Pairs.GROUP, 10);
    return LocalJobs.count(LocalJobs.run(PairCheck.job(conf, directory.toString())), what);
  }

  @Test
  void theCheckFindsWhatIsNotInOrder() throws Exception {
    assertThat(errorsOf("----\n0\t1\n0\t2\n----\n3\t0\n")).isZero();
    assertThat(errorsOf("----\n0\t2\n0\t1\n")).isEqualTo(1);
    assertThat(errorsOf("----\n0\t1\n0\t1\n")).isEqualTo(1);
    assertThat(errorsOf("0\t1\n")).isEqualTo(1);
    assertThat(errorsOf("----\n0\t1\n1\t1\n")).isEqualTo(1);
    assertThat(errorsOf("----\n3\t1\n----\n0\t1\n")).isEqualTo(1);
    assertThat(errorsOf("----\n----\n0\t1\n")).isEqualTo(1);
    assertThat(errorsOf("----\n0\t1\n----\n")).isEqualTo(1);
    assertThat(errorsOf("----\n0 1\n")).isEqualTo(2);
    assertThat(errorsOf("")).isZero();
  }

  @Test
  void aGroupInTwoFilesCountsTwice() throws Exception {
    write("part-r-00000", "----\n0\t1\n0\t2\n----\n3\t0\n");
    write("part-r-00001", "----\n1\t1\n");
    assertThat(found(PairCheck.Found.GROUPS)).isEqualTo(3);
    write("part-r-00001", "----\n1\t1\n----\n3\t1\n");
    assertThat(found(PairCheck.Found.GROUPS)).isEqualTo(4);
    assertThat(found(PairCheck.Found.ERRORS)).as("each file is in order").isZero();
  }
}
