package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Map outputs in a heap that they fill, in JVMs of their own of 200 MiB. */
class FullHeapTest {
  private static final int HEAP = 200 << 20;

  @TempDir Path directory;

  /** What {@link FullHeap} prints. */
  private String run(long heap, int bytes, String... flags)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(Arrays.asList(System.getProperty("java.home") + "/bin/java", "-Xmx200m"));
    command.addAll(Arrays.asList(flags));
    String path = System.getProperty("java.class.path");
    command.addAll(Arrays.asList("-cp", path, FullHeap.class.getName(), directory.toString()));
    command.addAll(Arrays.asList(Long.toString(heap), Integer.toString(bytes)));
    Path said = directory.resolve("said");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      String text = new String(Files.readAllBytes(said));
      assertThat(process.exitValue()).as(text).isZero();
      return text;
    } finally {
      process.destroyForcibly();
    }
  }

  /** By their bytes there would be 224, for which this heap has no room. */
  // Promise (how-to/accelerate): With G1, a map output counts with the whole regions that it takes
  @Test
  void whatTakesARegionOfTheHeapCountsAsOne() throws Exception {
    assertThat(run(HEAP, 640 << 10, "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError"))
        .contains("held 140, then one, ");
  }

  @Test
  void withoutRegionsOnlyBytesCount() throws Exception {
    assertThat(run(HEAP, 640 << 10, "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"))
        .contains("held 224, then one, ");
  }

  /** As where the task itself holds more than the share that is left to it. */
  // Promise (how-to/accelerate): The memory keys of the stock shuffle hold
  @Test
  void whatTheHeapHasNoRoomForGoesToDisk() throws Exception {
    assertThat(run(10L * HEAP, 10 << 20, "-XX:+UseSerialGC"))
        .containsPattern("held 1[0-9], then one, ");
  }
}
