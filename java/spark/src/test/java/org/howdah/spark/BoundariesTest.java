package org.howdah.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundariesTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 100, 2000})
  void partitionsAscendWithTheKeys(int partitions) {
    Random random = new Random(partitions);
    Boundaries boundaries = new Boundaries(keys(random, 1000), partitions);
    byte[][] keys = keys(random, 5000);
    Arrays.sort(keys, Arrays::compareUnsigned);
    int last = 0;
    for (byte[] key : keys) {
      int partition = boundaries.partition(key);
      assertThat(partition).isBetween(last, partitions - 1);
      last = partition;
    }
  }

  @Test
  void theSampleIsDividedEvenly() {
    byte[][] sample = keys(new Random(1), 1000);
    Boundaries boundaries = new Boundaries(sample, 8);
    int[] seen = new int[8];
    for (byte[] key : sample) {
      seen[boundaries.partition(key)]++;
    }
    assertThat(seen).containsOnly(125);
  }

  @Test
  void equalKeysStayTogetherAndNoKeysAreOnePartition() {
    byte[][] same = {new byte[10], new byte[10], new byte[10]};
    assertThat(new Boundaries(same, 4).partition(new byte[10])).isEqualTo(3);
    assertThat(new Boundaries(new byte[0][], 4).partition(new byte[10])).isZero();
  }

  private static byte[][] keys(Random random, int count) {
    byte[][] keys = new byte[count][10];
    for (byte[] key : keys) {
      random.nextBytes(key);
    }
    return keys;
  }
}
