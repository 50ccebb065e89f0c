package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Hadoop writes is read, and nothing else. */
class OutputIndexTest {
  @TempDir Path directory;

  private File written(int parts) throws IOException {
    SpillRecord index = new SpillRecord(parts);
    for (int part = 0; part < parts; part++) {
      index.putIndex(new IndexRecord(100L * part, (1L << 40) + part, 7L * part), part);
    }
    Path file = directory.resolve("file.out.index");
    index.writeToFile(new org.apache.hadoop.fs.Path(file.toUri()), new JobConf(false));
    return file.toFile();
  }

  @Test
  void everyPartIsAsHadoopWroteIt() throws IOException {
    File file = written(300);
    for (int part = 0; part < 300; part++) {
      IndexRecord read = OutputIndex.read(file, part);
      assertThat(read.startOffset).isEqualTo(100L * part);
      assertThat(read.rawLength).isEqualTo((1L << 40) + part);
      assertThat(read.partLength).isEqualTo(7L * part);
    }
    assertThatThrownBy(() -> OutputIndex.read(file, 300)).hasMessageContaining("no part 300");
  }

  @Test
  void whatIsDamagedIsRefused() throws IOException {
    File file = written(3);
    byte[] good = Files.readAllBytes(file.toPath());
    for (int place = 0; place < good.length; place++) {
      byte[] bad = good.clone();
      bad[place] ^= 1;
      Files.write(file.toPath(), bad);
      assertThatThrownBy(() -> OutputIndex.read(file, 1)).hasMessageContaining("damaged");
    }
    for (int length = 0; length < good.length; length++) {
      Files.write(file.toPath(), Arrays.copyOf(good, length));
      assertThatThrownBy(() -> OutputIndex.read(file, 2)).isInstanceOf(IOException.class);
    }
  }
}
