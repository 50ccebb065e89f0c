package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorsTest {
  private static final Path NAME = new Path("posixfs:/data/part-0");

  /**
   * The words are the C library's; of a stream's calls Java gives them alone, of others with the
   * file.
   */
  @ParameterizedTest
  @CsvSource({
    "Input/output error, org.apache.hadoop.fs.PathIOException",
    "Stale file handle, org.apache.hadoop.fs.PathIOException",
    "Transport endpoint is not connected, org.apache.hadoop.fs.PathIOException",
    "Read-only file system, org.apache.hadoop.fs.PathIOException",
    "No space left on device, org.apache.hadoop.fs.ClusterStorageCapacityExceededException",
    "Disk quota exceeded, org.apache.hadoop.fs.ClusterStorageCapacityExceededException",
    "Operation not permitted, org.apache.hadoop.security.AccessControlException",
    "Not a directory, org.apache.hadoop.fs.ParentNotDirectoryException",
    "Too many levels of symbolic links, java.io.FileNotFoundException",
  })
  void whatTheSystemSaysHasHadoopsClassWithPathAndOperation(String words, Class<?> expected) {
    IOException[] thrown = {
      new IOException(words), new FileSystemException("/mnt/data/part-0", null, words)
    };
    for (IOException one : thrown) {
      IOException made = Errors.of(one, "write", NAME);
      assertThat(made).isExactlyInstanceOf(expected).hasCause(one);
      assertThat(made.getMessage()).contains(NAME.toString(), "write");
      assertThat(made.getMessage().toLowerCase()).contains(words.toLowerCase());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Input/output error, true",
    "Remote I/O error, true",
    "Connection timed out, true",
    "Stale file handle, true",
    "Host is down, true",
    "Transport endpoint is not connected, true",
    "Operation not permitted, false",
    "Operation not supported, false",
    "Too many links, false",
    "No space left on device, false",
    "Not a directory, false",
  })
  void aFailureIsWhatMayHaveBeenDoneAllTheSame(String words, boolean expected) {
    assertThat(Errors.isFailure(new FileSystemException("/mnt/a", "/mnt/b", words)))
        .isEqualTo(expected);
  }

  @Test
  void aRightThatIsMissingAtTheOtherEndIsSaidWithIt() {
    IOException refused = new AccessDeniedException("/mnt/data/part-0", "/mnt/closed/part-0", null);
    assertThat(Errors.of(refused, "rename", NAME).getMessage())
        .contains(NAME.toString(), "/mnt/closed/part-0");
  }

  @Test
  void whatHasNoWordsIsSaidByItsClass() {
    assertThat(Errors.said(new NoSuchFileException("/mnt")))
        .contains("NoSuchFile", "/mnt")
        .doesNotContain("null");
    assertThat(Errors.of(new ClosedChannelException(), "read", NAME).getMessage())
        .contains("ClosedChannel", NAME.toString());
    assertThat(Errors.isFailure(new NoSuchFileException("/mnt/stale"))).isFalse();
  }

  @Test
  void whyThereIsNoSuchFileIsSaid() {
    IOException missing = new NoSuchFileException("/mnt/data/part-0", null, "it leads nowhere");
    assertThat(Errors.of(missing, "open", NAME).getMessage()).endsWith("; it leads nowhere");
  }
}
