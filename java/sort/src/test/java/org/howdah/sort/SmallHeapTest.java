package org.howdah.sort;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the buffer does where the heap is small, in JVMs of their own. */
class SmallHeapTest {
  @TempDir Path directory;

  /** What {@link SmallHeap} prints. */
  private String run(String program, String... flags) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(Arrays.asList("-Xmx200m", "-XX:TieredStopAtLevel=1"));
    command.addAll(Arrays.asList(flags));
    command.addAll(
        Arrays.asList(
            "-cp", System.getProperty("java.class.path"), SmallHeap.class.getName(), program));
    Path said = directory.resolve("said");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
      String text = new String(Files.readAllBytes(said));
      assertThat(process.exitValue()).as(text).isZero();
      return text;
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1"})
  void halfOfTheHeapIsTakenWhereItIsFree(String collector) throws Exception {
    assertThat(run("alone", "-XX:+Use" + collector + "GC", "-XX:+ExitOnOutOfMemoryError"))
        .contains("spills 0 runs 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1"})
  void aMapperThatHoldsMostOfTheHeapHasIt(String collector) throws Exception {
    String said = run("full", "-XX:+Use" + collector + "GC", "-XX:+ExitOnOutOfMemoryError");
    assertThat(said).doesNotContain("spills 0 ").contains("runs 1");
  }

  // Promise (how-to/accelerate): A mapper that grows gets memory back from the sort
  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1"})
  void aMapperThatGrowsGetsBackWhatItNeeds(String collector) throws Exception {
    String said = run("growing", "-XX:+Use" + collector + "GC", "-XX:+ExitOnOutOfMemoryError");
    assertThat(said).doesNotContain("spills 0 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"told", "folded"})
  void moreMemoryThanThereIsBecomesRunsNotFailure(String program) throws Exception {
    String said = run(program, "-XX:+UseSerialGC");
    assertThat(said).doesNotContain("spills 0 ").doesNotContain("runs 1\n");
  }

  @Test
  void afterARecordThatIsLargerThanTheHeapTheOthersAreRight() throws Exception {
    assertThat(run("large", "-XX:+UseSerialGC")).contains("spills ");
  }
}
