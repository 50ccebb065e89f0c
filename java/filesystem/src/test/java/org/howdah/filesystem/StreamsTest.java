package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreamsTest {
  private static final org.apache.hadoop.fs.Path NAME = new org.apache.hadoop.fs.Path("/file");

  @TempDir Path root;

  /** In memory, and as if every storage were slow, with and without checksums. */
  @ParameterizedTest
  @CsvSource({"1g,false", "1g,true", "1e,false", "1e,true"})
  void anySequenceOfCallsGivesTheBytesThatWereWritten(String below, String checksum)
      throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 12; round++) {
      String buffer = random.nextBoolean() ? "4096" : "64k";
      String[] settings = {
        "background.below",
        below,
        "checksum",
        checksum,
        "buffer.size",
        buffer,
        "read.ahead",
        "256k",
        "threads",
        "4",
        "sync.on.close",
        String.valueOf(random.nextInt(4) == 0),
        "create.atomic",
        String.valueOf(random.nextBoolean())
      };
      try (FileSystem files = TemporaryMount.open(root, settings)) {
        byte[] bytes = write(files, random);
        assertThat(Files.readAllBytes(root.resolve("file")))
            .as("seed %d round %d", seed, round)
            .isEqualTo(bytes);
        read(files, bytes, random, "seed " + seed + " round " + round);
        files.delete(NAME, false);
      }
    }
  }

  private static byte[] write(FileSystem files, Random random) throws IOException {
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    try (FSDataOutputStream out = files.create(NAME)) {
      for (int call = random.nextInt(40); call > 0; call--) {
        byte[] some = new byte[random.nextInt(random.nextInt(5) == 0 ? 300_000 : 5_000)];
        random.nextBytes(some);
        switch (random.nextInt(8)) {
          case 0:
            out.hflush();
            break;
          case 1:
            out.hsync();
            break;
          case 2:
            out.write(some.length);
            expected.write(some.length);
            break;
          default:
            out.write(some);
            expected.write(some);
        }
        assertThat(out.getPos()).isEqualTo(expected.size());
      }
    }
    return expected.toByteArray();
  }

  private static void read(FileSystem files, byte[] bytes, Random random, String seed)
      throws IOException {
    try (FSDataInputStream in = files.open(NAME)) {
      int position = 0;
      for (int call = 0; call < 60; call++) {
        byte[] some = new byte[random.nextInt(random.nextInt(5) == 0 ? 300_000 : 5_000)];
        int count;
        int from = position;
        switch (random.nextInt(7)) {
          case 0:
            from = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
            count = in.read(from, some, 0, some.length);
            break;
          case 1:
            position = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
            in.seek(position);
            continue;
          case 2:
            position += (int) in.skip(some.length);
            continue;
          case 3:
            ByteBuffer into =
                random.nextBoolean()
                    ? ByteBuffer.allocate(some.length)
                    : ByteBuffer.allocateDirect(some.length);
            count = in.read(into);
            into.flip();
            into.get(some, 0, Math.max(0, count));
            position += Math.max(0, count);
            break;
          case 4:
            int value = in.read();
            assertThat(value)
                .as(seed)
                .isEqualTo(position < bytes.length ? bytes[position++] & 0xff : -1);
            continue;
          default:
            count = in.read(some);
            position += Math.max(0, count);
        }
        if (some.length > 0) {
          assertThat(count < 0).as(seed).isEqualTo(from >= bytes.length);
        }
        int given = Math.max(0, count);
        assertThat(Arrays.copyOf(some, given))
            .as(seed)
            .isEqualTo(Arrays.copyOfRange(bytes, from, from + given));
        assertThat(in.getPos()).as(seed).isEqualTo(position);
      }
    }
  }

  @Test
  void rangesCloseToEachOtherAreReadTogether() throws IOException {
    byte[] bytes = new byte[1 << 20];
    new Random(1).nextBytes(bytes);
    Files.write(root.resolve("file"), bytes);
    try (FileSystem files = TemporaryMount.open(root);
        FSDataInputStream in = files.open(NAME)) {
      List<FileRange> ranges = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        ranges.add(FileRange.createFileRange(i * 50_000, i % 2 == 0 ? 49_000 : 10));
      }
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        ByteBuffer data = range.getData().join();
        byte[] given = new byte[data.remaining()];
        data.get(given);
        int start = (int) range.getOffset();
        assertThat(given).isEqualTo(Arrays.copyOfRange(bytes, start, start + range.getLength()));
      }
    }
  }

  // Promise (how-to/filesystem): A flushed write is seen by other processes of the host
  @Test
  void aReaderSeesWhatWasFlushedAndAFileThatGrows() throws IOException {
    try (FileSystem files = TemporaryMount.open(root);
        FSDataOutputStream out = files.create(NAME);
        FSDataInputStream early = files.open(NAME)) {
      assertThat(early.read()).isEqualTo(-1);
      out.write(7);
      out.hflush();
      assertThat(early.read()).isEqualTo(7);
      assertThat(early.read()).isEqualTo(-1);
    }
  }

  // Promise (how-to/filesystem): Readers of a file that is overwritten go on with the old one
  @Test
  void whoReadsAFileThatIsOverwrittenGoesOnWithTheOldOne() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      try (FSDataOutputStream out = files.create(NAME)) {
        out.write(new byte[] {1, 1, 1});
      }
      try (FSDataInputStream in = files.open(NAME)) {
        try (FSDataOutputStream out = files.create(NAME, true)) {
          out.write(2);
        }
        byte[] old = new byte[3];
        in.readFully(old);
        assertThat(old).containsExactly(1, 1, 1);
      }
      assertThat(files.getFileStatus(NAME).getLen()).isEqualTo(1);
      assertThat(root.toFile().list()).containsExactly("file");
    }
  }

  // Promise (how-to/filesystem): With `checksum`, a damaged byte is found when a file is read
  @Test
  void aDamagedByteIsFound() throws IOException {
    byte[] bytes = new byte[3 * Checksums.CHUNK + 17];
    new Random(2).nextBytes(bytes);
    try (FileSystem files = TemporaryMount.open(root, "checksum", "true")) {
      try (FSDataOutputStream out = files.create(NAME)) {
        out.write(bytes);
      }
      org.junit.jupiter.api.Assumptions.assumeTrue(
          Attributes.areSupported(root), "no extended attributes here");
      Path file = root.resolve("file");
      java.nio.file.attribute.FileTime time = Files.getLastModifiedTime(file);
      bytes[2 * Checksums.CHUNK + 5] ^= 4;
      Files.write(file, bytes);
      Files.setLastModifiedTime(file, time);
      try (FSDataInputStream in = files.open(NAME)) {
        in.readFully(new byte[2 * Checksums.CHUNK]);
        assertThatThrownBy(() -> in.readFully(new byte[10]))
            .isInstanceOf(ChecksumException.class)
            .hasMessageContaining("file");
      }
      files.setVerifyChecksum(false);
      byte[] found = new byte[bytes.length];
      try (FSDataInputStream in = files.open(NAME)) {
        in.readFully(found);
      }
      assertThat(found).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false"})
  void aFileThatMayNotBeWrittenToHasItsChecksums(String atomic, String sync) throws IOException {
    org.junit.jupiter.api.Assumptions.assumeTrue(
        Attributes.areSupported(root), "no extended attributes here");
    String[] settings = {
      "checksum", "true", "create.atomic", atomic, "sync.on.close", sync, "sync.directories", "true"
    };
    try (FileSystem files = TemporaryMount.open(root, settings)) {
      try (FSDataOutputStream out =
          files.create(NAME, new FsPermission("444"), true, 4096, (short) 1, 1 << 20, null)) {
        out.write(new byte[100]);
      }
      Path file = root.resolve("file");
      assertThat(Checksums.read(file, Entry.of(file))).isNotNull();
      assertThat(Files.getAttribute(file, "unix:mode")).isEqualTo(0100444);
    }
  }

  @Test
  void whoFlushesAStreamThatIsClosedHasNothingToFear() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      FSDataOutputStream out = files.create(NAME);
      out.close();
      out.flush();
      assertThatThrownBy(out::hflush).hasMessageContaining("closed");
    }
  }

  @Test
  void aFileThatAnotherProgramChangedIsReadWithoutItsOldChecksums() throws IOException {
    try (FileSystem files = TemporaryMount.open(root, "checksum", "true")) {
      try (FSDataOutputStream out = files.create(NAME)) {
        out.write(new byte[100]);
      }
      Files.write(root.resolve("file"), new byte[] {1, 2, 3});
      try (FSDataInputStream in = files.open(NAME)) {
        byte[] read = new byte[3];
        in.readFully(read);
        assertThat(read).containsExactly(1, 2, 3);
      }
    }
  }

  // Promise (how-to/filesystem): With `create.atomic`, a file appears only when it is complete
  @Test
  void anAbortedOrBrokenAtomicFileIsNeverSeen() throws IOException {
    try (FileSystem files = TemporaryMount.open(root, "create.atomic", "true")) {
      FSDataOutputStream out = files.create(NAME);
      out.write(new byte[5_000_000]);
      assertThat(files.exists(NAME)).isFalse();
      out.abort();
      assertThat(root.toFile().list()).isEmpty();

      try (FSDataOutputStream second = files.create(NAME)) {
        second.write(3);
      }
      assertThat(files.getFileStatus(NAME).getLen()).isEqualTo(1);
      assertThat(root.toFile().list()).containsExactly("file");
    }
  }

  @Test
  void theBuilderMakesOneFileAtomic() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      FSDataOutputStream out =
          (FSDataOutputStream)
              files.createFile(NAME).must("fs.posixfs.create.atomic", true).build();
      out.write(1);
      assertThat(files.exists(NAME)).isFalse();
      out.close();
      assertThat(files.exists(NAME)).isTrue();
      assertThatThrownBy(() -> files.createFile(NAME).must("fs.posixfs.nonsense", 1).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("fs.posixfs.nonsense");
    }
  }

  /** Positions beyond what an int holds; what was never written is zeros, and takes no room. */
  @Test
  void aSparseFileOfMoreThanTwoGigabytesIsReadAndAppendedTo() throws IOException {
    long size = 3L << 30;
    byte[] mark = {1, 2, 3, 4};
    try (FileChannel channel =
        FileChannel.open(
            root.resolve("file"),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(mark), size - mark.length);
    }
    FileSystem files = TemporaryMount.open(root);
    try (FSDataOutputStream out = files.append(NAME)) {
      assertThat(out.getPos()).isEqualTo(size);
      out.write(mark);
    }
    assertThat(files.getFileStatus(NAME).getLen()).isEqualTo(size + mark.length);
    byte[] found = new byte[3 * mark.length];
    try (FSDataInputStream in = files.open(NAME)) {
      in.readFully(size - 2 * mark.length, found);
      assertThat(found).containsExactly(0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4);
      in.seek(size);
      assertThat(in.read()).isEqualTo(1);
      assertThat(in.getPos()).isEqualTo(size + 1);
      assertThat(in.available()).isEqualTo(3);
    }
    assertThat(files.getFileBlockLocations(NAME, size, 1)[0].getOffset()).isEqualTo(size);
  }
}
