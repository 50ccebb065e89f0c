package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.PathIOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of files that are made, until they are closed. */
class CreationTest {
  @TempDir Path root;

  private static org.apache.hadoop.fs.Path name(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  // Promise (how-to/filesystem): Files that a program leaves open are closed with their
  // `FileSystem`
  @Test
  void whatIsNotClosedIsClosedWithItsFileSystem() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    FSDataOutputStream plain = files.create(name("/plain"));
    plain.write(new byte[10]);
    FSDataOutputStream atomic =
        (FSDataOutputStream)
            files.createFile(name("/atomic")).must("fs.posixfs.create.atomic", true).build();
    atomic.write(new byte[10]);
    files.create(name("/closed")).close();

    files.close();

    assertThat(Files.size(root.resolve("plain"))).isEqualTo(10);
    assertThat(root.toFile().list()).containsExactlyInAnyOrder("plain", "closed");
    assertThatThrownBy(() -> plain.write(1)).isInstanceOf(IOException.class);
    plain.close();
    // Or a job would succeed without its file.
    assertThatThrownBy(atomic::close).hasMessageContaining("it is not made");
    atomic.close();
  }

  @Test
  void oneFileCanBeSeenWhileItIsWrittenWhereTheOthersAreAtomic() throws IOException {
    FileSystem files = TemporaryMount.open(root, "create.atomic", "true");
    try (FSDataOutputStream out =
        (FSDataOutputStream)
            files.createFile(name("/log")).must("fs.posixfs.create.atomic", false).build()) {
      out.write(1);
      out.hflush();
      assertThat(Files.size(root.resolve("log"))).isEqualTo(1);
    }
  }

  @Test
  void whatIsNoFileIsNeitherReplacedNorWrittenTo() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    Path pipe = root.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> files.create(name("/pipe"), true))
        .isInstanceOf(PathIOException.class)
        .hasMessageContaining("it is not a file");
    assertThatThrownBy(() -> files.append(name("/pipe"))).hasMessageContaining("it is not a file");
    assertThat(Files.isRegularFile(pipe)).isFalse();
  }

  @Test
  void aFileForWhoseBuffersThereIsNoRoomIsNotComplete() throws Exception {
    Path data = Files.createDirectory(root.resolve("data"));
    Path said = root.resolve("said");
    List<String> command =
        Arrays.asList(
            System.getProperty("java.home") + "/bin/java",
            "-XX:MaxDirectMemorySize=6m",
            "-cp",
            System.getProperty("java.class.path"),
            ManyWriters.class.getName(),
            data.toString());
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String text = new String(Files.readAllBytes(said));
    assertThat(text)
        .containsPattern("write: .*no room for a buffer of 1048576 bytes outside of the heap")
        .containsOnlyOnce("close: ");
    int begun = Integer.parseInt(text.substring(text.indexOf("begun: ") + 7).trim());
    List<String> made = Arrays.asList(data.toFile().list());
    assertThat(made.stream().sorted().collect(Collectors.toList())).hasSize(begun - 1);
    for (String each : made) {
      assertThat(Files.size(data.resolve(each))).isEqualTo(200_000);
    }
  }
}
