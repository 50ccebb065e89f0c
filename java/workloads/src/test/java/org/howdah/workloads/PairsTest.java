package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
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
    Files.write(directory.resolve("part-r-00000"), content.getBytes(StandardCharsets.US_ASCII));
    Job job = checkJob();
    assertThat(job.waitForCompletion(false)).isTrue();
    return job.getCounters().findCounter(PairCheck.Found.ERRORS).getValue();
  }

  private Job checkJob() throws IOException {
    Configuration conf = new Configuration();
    conf.setInt(Pairs.GROUP, 10);
    return PairCheck.job(conf, directory.toString());
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
}
