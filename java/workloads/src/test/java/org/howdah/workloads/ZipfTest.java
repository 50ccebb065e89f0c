package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ZipfTest {
  /**
   * Pearson's chi-squared; the statistic of a right sampler is above mean + 5 deviations once in
   * millions of seeds.
   */
  @ParameterizedTest
  @CsvSource({"1, 1.0", "2, 0.0", "50, 0.0", "50, 1.0", "50, 2.0", "1000, 1.0"})
  void ranksComeAsOftenAsTheLawSays(int ranks, double exponent) {
    int draws = 2_000_000;
    Zipf zipf = new Zipf(ranks, exponent);
    RandomBits random = new RandomBits(42, 0);
    long[] seen = new long[ranks];
    for (int draw = 0; draw < draws; draw++) {
      seen[zipf.draw(random)]++;
    }
    double sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
      sum += Math.pow(rank + 1.0, -exponent);
    }
    double statistic = 0;
    for (int rank = 0; rank < ranks; rank++) {
      double expected = draws * Math.pow(rank + 1.0, -exponent) / sum;
      statistic += (seen[rank] - expected) * (seen[rank] - expected) / expected;
    }
    int freedom = ranks - 1;
    assertThat(statistic).isLessThanOrEqualTo(freedom + 5 * Math.sqrt(2.0 * freedom) + 1e-9);
  }
}
