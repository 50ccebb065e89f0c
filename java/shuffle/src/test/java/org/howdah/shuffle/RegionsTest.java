package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RegionsTest {
  private static final int MIB = 1 << 20;

  @Test
  void arraysOfMoreThanHalfOfARegionTakeWholeOnes() {
    Regions regions = new Regions(MIB);
    assertThat(regions.taken(MIB / 2 - 16)).isEqualTo(MIB / 2 - 16);
    assertThat(regions.taken(MIB / 2)).isEqualTo(MIB);
    assertThat(regions.taken(MIB - 16)).isEqualTo(MIB);
    assertThat(regions.taken(MIB)).isEqualTo(2 * MIB);
    assertThat(regions.taken(Integer.MAX_VALUE - 8)).isEqualTo(2048L * MIB + MIB);
  }

  @Test
  void withoutRegionsAnArrayTakesItsBytes() {
    assertThat(new Regions(0).taken(MIB)).isEqualTo(MIB);
  }
}
