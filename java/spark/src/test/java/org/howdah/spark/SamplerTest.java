package org.howdah.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SamplerTest {
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"1000, 100", "1000, 5000", "3, 100", "1, 1", "0, 10"})
  void keysComeFromAllOverAndEachIsThereOnce(int rows, int most) throws IOException {
    write("part-m-00000", 0, rows / 3);
    write("part-m-00001", rows / 3, rows);
    write("_counts", 0, 7);
    long[] found =
        Arrays.stream(sample(most)).mapToLong(key -> ByteBuffer.wrap(key).getLong(2)).toArray();
    assertThat(found).doesNotHaveDuplicates().hasSizeLessThanOrEqualTo(Math.max(most, 10));
    for (int[] part : new int[][] {{0, rows / 3}, {rows / 3, rows}}) {
      // A tenth of all rows is between two places, so a file of more has one.
      boolean large = part[1] - part[0] > rows / 10;
      assertThat(Arrays.stream(found).anyMatch(row -> part[0] <= row && row < part[1]))
          .isEqualTo(large);
    }
  }

  @Test
  void aDirectoryWithoutRowsIsNamed() {
    assertThatThrownBy(() -> sample(10))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining(directory.getFileName().toString());
  }

  private byte[][] sample(int most) throws IOException {
    FileSystem files = FileSystem.getLocal(new Configuration());
    return Sampler.sample(files, new org.apache.hadoop.fs.Path(directory.toUri()), most);
  }

  /** Rows whose keys end with their number. */
  private void write(String name, int from, int to) throws IOException {
    ByteBuffer rows = ByteBuffer.allocate((to - from) * TeraSort.ROW);
    for (int row = from; row < to; row++) {
      rows.putLong((row - from) * TeraSort.ROW + 2, row);
    }
    Files.write(directory.resolve(name), rows.array());
  }
}
