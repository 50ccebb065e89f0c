package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.PureJavaCrc32C;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChecksumsTest {
  private static final org.apache.hadoop.fs.Path NAME = new org.apache.hadoop.fs.Path("/file");

  @TempDir Path root;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /**
   * Whatever is done to a file, by this file system or past it: the checksums that it has are those
   * of its bytes, or it has none.
   */
  // Promise (how-to/filesystem): After any change, a file has the checksums of its bytes or none
  @Test
  void afterAnyChangesAFileHasTheChecksumsOfItsBytesOrNone() throws Exception {
    Assumptions.assumeTrue(Attributes.areSupported(root), "no extended attributes here");
    Configuration conf = TemporaryMount.configured(root, "checksum", "true");
    conf.set("dfs.checksum.combine.mode", "COMPOSITE_CRC");
    int compared = 0;
    try (FileSystem files = FileSystem.newInstance(java.net.URI.create("posixfs:///"), conf)) {
      byte[] bytes = create(files, NAME);
      for (int change = 0; change < 60; change++) {
        bytes = change(files, bytes);
        String which = "seed " + seed + " change " + change;
        Path file = root.resolve("file");
        assertThat(Files.readAllBytes(file)).as(which).isEqualTo(bytes);
        Checksums sums = Checksums.read(file, Entry.of(file));
        if (sums != null) {
          compared++;
          assertThat(sums.composite()).as(which).isEqualTo(crc(bytes));
        }
        assertThat(ByteBuffer.wrap(files.getFileChecksum(NAME).getBytes()).getInt())
            .as(which)
            .isEqualTo(crc(bytes));
        byte[] read = new byte[bytes.length];
        try (java.io.InputStream in = files.open(NAME)) {
          org.apache.hadoop.io.IOUtils.readFully(in, read, 0, read.length);
        }
        assertThat(read).as(which).isEqualTo(bytes);
      }
    }
    assertThat(compared).as("seed " + seed).isPositive();
  }

  /** As DistCp compares what it goes on with, and as old clusters have their checksums. */
  @Test
  void aChecksumIsOfAsManyBytesAndOfTheKindThatIsAskedFor() throws Exception {
    byte[] bytes = new byte[3 * Checksums.CHUNK + 17];
    random.nextBytes(bytes);
    Files.write(root.resolve("file"), bytes);
    for (String type : new String[] {"CRC32", "CRC32C"}) {
      Configuration conf = TemporaryMount.configured(root, "buffer.size", "64k");
      conf.set("dfs.checksum.combine.mode", "COMPOSITE_CRC");
      conf.set("dfs.checksum.type", type);
      try (FileSystem files = FileSystem.newInstance(java.net.URI.create("posixfs:///"), conf)) {
        for (int length : new int[] {1, 65_536, Checksums.CHUNK + 1, bytes.length, 1 << 30}) {
          Checksum expected = type.equals("CRC32") ? new CRC32() : new PureJavaCrc32C();
          expected.update(bytes, 0, Math.min(length, bytes.length));
          FileChecksum found = files.getFileChecksum(NAME, length);
          assertThat(found.getAlgorithmName()).isEqualTo("COMPOSITE-" + type);
          assertThat(ByteBuffer.wrap(found.getBytes()).getInt())
              .as(type + " of " + length)
              .isEqualTo((int) expected.getValue());
        }
      }
    }
  }

  /** As where an attribute may have 4 KiB (ext4), or the 64 KiB that Linux allows at all. */
  @ParameterizedTest
  @ValueSource(ints = {3000, 20_000})
  void chunksAreJoinedUntilTheirChecksumsFit(int chunks) throws IOException {
    Assumptions.assumeTrue(Attributes.areSupported(root), "no extended attributes here");
    Path file = root.resolve("sparse");
    long size = (long) chunks * Checksums.CHUNK + 5;
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(size);
    }
    int[] sums = new int[chunks + 1];
    Arrays.fill(sums, crc(new byte[Checksums.CHUNK]));
    sums[chunks] = crc(new byte[5]);
    Checksums whole = new Checksums(Checksums.CHUNK, size, sums);
    if (!whole.write(file)) {
      assertThat(Checksums.read(file, Entry.of(file))).isNull();
      return;
    }
    Checksums found = Checksums.read(file, Entry.of(file));
    assertThat(found.composite()).isEqualTo(whole.composite());
    assertThat(found.chunk).isGreaterThan(chunks == 3000 ? 0 : Checksums.CHUNK);
    ByteBuffer zeros = ByteBuffer.allocate(found.chunk);
    assertThat(found.matches(found.chunk, zeros, new Crc())).isTrue();
    zeros.put(found.chunk - 1, (byte) 1);
    assertThat(found.matches(found.chunk, zeros, new Crc())).isFalse();
  }

  private byte[] change(FileSystem files, byte[] bytes) throws Exception {
    Path file = root.resolve("file");
    switch (random.nextInt(8)) {
      case 0:
        byte[] appended = some();
        try (FSDataOutputStream out = files.append(NAME)) {
          out.write(appended);
        }
        return joined(bytes, appended);
      case 1:
        int length = random.nextInt(bytes.length + 1);
        files.truncate(NAME, length);
        return Arrays.copyOf(bytes, length);
      case 2:
        org.apache.hadoop.fs.Path[] sources = {
          new org.apache.hadoop.fs.Path("/a"), new org.apache.hadoop.fs.Path("/b")
        };
        byte[] joined = joined(create(files, sources[0]), create(files, sources[1]));
        files.concat(NAME, sources);
        return joined(bytes, joined);
      case 3:
        files.setTimes(NAME, 1000L * random.nextInt(1_000_000), -1);
        return bytes;
      case 4:
        org.apache.hadoop.fs.Path other = new org.apache.hadoop.fs.Path("/other");
        byte[] others = create(files, other);
        files.delete(NAME, false);
        files.rename(other, NAME);
        return others;
      case 5:
        byte[] changed = bytes.clone();
        if (changed.length > 0) {
          changed[random.nextInt(changed.length)] ^= 1;
        }
        // The kernel's clock of files stands for up to 10 ms.
        Thread.sleep(20);
        Files.write(file, changed);
        return changed;
      case 6:
        byte[] more = some();
        Files.write(file, more, StandardOpenOption.APPEND);
        return joined(bytes, more);
      default:
        return create(files, NAME);
    }
  }

  private byte[] create(FileSystem files, org.apache.hadoop.fs.Path name) throws IOException {
    byte[] bytes = some();
    try (FSDataOutputStream out = files.create(name)) {
      out.write(bytes);
    }
    return bytes;
  }

  private byte[] some() {
    byte[] bytes =
        new byte[random.nextInt(random.nextBoolean() ? 1000 : 2 * Checksums.CHUNK + 1000)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] joined(byte[] first, byte[] second) {
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    both.write(first, 0, first.length);
    both.write(second, 0, second.length);
    return both.toByteArray();
  }

  private static int crc(byte[] bytes) {
    PureJavaCrc32C whole = new PureJavaCrc32C();
    whole.update(bytes, 0, bytes.length);
    return (int) whole.getValue();
  }
}
