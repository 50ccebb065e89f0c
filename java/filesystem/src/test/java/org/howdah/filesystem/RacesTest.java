package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several threads on one stream or one name, and names that change while a stream is open. */
class RacesTest {
  private static final int BUFFER = 12 << 10;

  @TempDir Path root;
  private final ExecutorService pool = Executors.newFixedThreadPool(4);

  private static org.apache.hadoop.fs.Path name(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  private static void write(FileSystem files, String path, int count, int value)
      throws IOException {
    byte[] bytes = new byte[count];
    java.util.Arrays.fill(bytes, (byte) value);
    try (FSDataOutputStream out = files.create(name(path), true)) {
      out.write(bytes);
    }
  }

  @AfterEach
  void end() {
    pool.shutdownNow();
  }

  @Test
  void aStreamThatIsClosedWhileItIsReadGivesItsBufferBackOnce() throws Exception {
    FileSystem files = TemporaryMount.open(root, "buffer.size", String.valueOf(BUFFER));
    write(files, "/file", 100_000, 1);
    for (int round = 0; round < 500; round++) {
      FSDataInputStream in = files.open(name("/file"));
      Future<?> reading =
          pool.submit(
              () -> {
                byte[] some = new byte[100];
                while (in.read(some) > 0) {
                  assertThat(some[0]).isEqualTo((byte) 1);
                }
                return null;
              });
      Future<?> closing = pool.submit((Callable<Void>) () -> close(in));
      closing.get();
      try {
        reading.get();
      } catch (java.util.concurrent.ExecutionException closed) {
        assertThat(closed.getCause()).isInstanceOf(IOException.class);
      }
    }
    Set<ByteBuffer> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 64; i++) {
      assertThat(seen.add(Buffers.of(BUFFER).take())).isTrue();
    }
  }

  private static Void close(FSDataInputStream in) throws IOException {
    in.close();
    return null;
  }

  @Test
  void ofManyWhoCreateWithoutOverwritingOneDoes() throws Exception {
    oneOfManyCreates(TemporaryMount.open(root));
    oneOfManyCreates(TemporaryMount.open(root, "checksum", "true", "preallocate", "1m"));
  }

  private void oneOfManyCreates(FileSystem files) throws Exception {
    AtomicInteger held = new AtomicInteger();
    Callable<Integer> worker =
        () -> {
          int got = 0;
          for (int i = 0; i < 300; i++) {
            try {
              files.create(name("/lock"), false).close();
            } catch (FileAlreadyExistsException taken) {
              continue;
            }
            assertThat(held.incrementAndGet()).isEqualTo(1);
            got++;
            held.decrementAndGet();
            files.delete(name("/lock"), false);
          }
          return got;
        };
    int got = 0;
    for (Future<Integer> one : pool.invokeAll(Collections.nCopies(4, worker))) {
      got += one.get();
    }
    assertThat(got).isPositive();
  }

  /** Each has its own, by whatever it is opened or looked at meanwhile; the last has the name. */
  @Test
  void ofTwoWhoOverwriteOneFileEachWritesItsOwn() throws Exception {
    FileSystem files = TemporaryMount.open(root, "checksum", "true", "preallocate", "1m");
    for (int round = 0; round < 200; round++) {
      List<Callable<Void>> writers = new ArrayList<>();
      for (int number = 1; number <= 2; number++) {
        int value = number;
        writers.add(
            () -> {
              write(files, "/file", 5000 * value, value);
              return null;
            });
      }
      for (Future<Void> one : pool.invokeAll(writers)) {
        one.get();
      }
      try (FSDataInputStream in = files.open(name("/file"))) {
        int value = in.read();
        int count = 1;
        for (int next; (next = in.read()) >= 0; count++) {
          assertThat(next).isEqualTo(value);
        }
        assertThat(count).isEqualTo(5000 * value);
      }
      assertThat(root.toFile().list()).containsExactly("file");
      files.delete(name("/file"), false);
    }
  }

  @Test
  void whatAnotherAppendsIsNotGivenBackWithWhatWasReserved() throws IOException {
    FileSystem files = TemporaryMount.open(root, "preallocate", "1m");
    FSDataOutputStream out = files.create(name("/file"));
    out.write(new byte[10]);
    out.hflush();
    try (FSDataOutputStream another = files.append(name("/file"))) {
      assertThat(another.getPos()).isEqualTo(10);
      another.write(new byte[20]);
    }
    out.close();
    assertThat(Files.size(root.resolve("file"))).isEqualTo(30);
  }

  @Test
  void anInterruptedReaderLeavesTheStreamToTheOthers() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/file", 1000, 5);
    try (FSDataInputStream in = files.open(name("/file"))) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> in.readFully(0, new byte[10]))
          .isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
      byte[] read = new byte[10];
      in.readFully(500, read);
      assertThat(read[9]).isEqualTo((byte) 5);
      assertThat(in.read()).isEqualTo(5);
    }
  }

  /** As HDFS and Java's own streams do, it takes no interrupt of its writer for one of itself. */
  // Promise (how-to/filesystem): A writer that is interrupted loses nothing
  @Test
  void aWriterThatIsInterruptedLosesNothing() throws IOException {
    FileSystem files = TemporaryMount.open(root, "checksum", "true");
    byte[] large = new byte[300_000];
    FSDataOutputStream out = files.create(name("/file"), true);
    out.write(new byte[10]);
    Thread.currentThread().interrupt();
    out.hflush();
    out.write(large);
    out.hsync();
    out.write(new byte[10]);
    out.close();
    assertThat(Thread.interrupted()).as("and is still interrupted").isTrue();
    assertThat(Files.size(root.resolve("file"))).isEqualTo(300_020);
  }

  /** It may have stopped writing for that, and what closes it is not to know. */
  // Promise (how-to/filesystem): With `create.atomic`, a file appears only when it is complete
  @Test
  void aWriterThatIsInterruptedBeforeItClosesLeavesNothingThatLooksComplete() throws IOException {
    FileSystem files = TemporaryMount.open(root, "create.atomic", "true");
    FSDataOutputStream out = files.create(name("/file"), true);
    out.write(new byte[10]);
    Thread.currentThread().interrupt();
    out.write(new byte[300_000]);
    assertThatThrownBy(out::close)
        .isInstanceOf(InterruptedIOException.class)
        .hasMessageContaining("it is not made");
    assertThat(Thread.interrupted()).as("and is still interrupted").isTrue();
    assertThat(root.toFile().list()).isEmpty();
    out.close();
    assertThat(root.toFile().list()).isEmpty();
  }

  @Test
  void aWriterThatIsInterruptedWhileItWaitsForTheStorageLosesNothing() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    FSDataOutputStream out = files.create(name("/file"));
    Thread writer = Thread.currentThread();
    int rounds = 100;
    for (int round = 0; round < rounds; round++) {
      out.write(round);
      out.hflush();
      Future<?> interrupting = pool.submit(writer::interrupt);
      out.hsync();
      while (!interrupting.isDone()) {
        Thread.yield();
      }
      assertThat(Thread.interrupted()).isTrue();
    }
    out.close();
    assertThat(Files.size(root.resolve("file"))).isEqualTo(rounds);
  }

  /** The storage is as if it were slow, so that the end is waited for. */
  @Test
  void aWriterThatIsInterruptedWhileItClosesHasItsFileOrIsTold() throws Exception {
    String[] settings = {
      "background.below",
      "1e",
      "checksum",
      "true",
      "create.atomic",
      "true",
      "sync.directories",
      "true"
    };
    FileSystem files = TemporaryMount.open(root, settings);
    Thread writer = Thread.currentThread();
    byte[] large = new byte[5_000_000];
    for (int round = 0; round < 20; round++) {
      FSDataOutputStream out = files.create(name("/file"), true);
      out.write(large);
      Future<?> interrupting = pool.submit(writer::interrupt);
      boolean isMade = true;
      try {
        out.close();
      } catch (InterruptedIOException before) {
        isMade = false;
      }
      while (!interrupting.isDone()) {
        Thread.yield();
      }
      assertThat(Thread.interrupted()).isTrue();
      if (isMade) {
        assertThat(Files.size(root.resolve("file"))).isEqualTo(large.length);
        Files.delete(root.resolve("file"));
      }
      assertThat(root.toFile().list()).isEmpty();
    }
  }

  // Promise (how-to/filesystem): A `concat` that is interrupted leaves every source
  @Test
  void anInterruptedConcatLeavesEverythingAsItWas() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/target", 1, 1);
    write(files, "/source", 1_000_000, 2);
    Thread.currentThread().interrupt();
    assertThatThrownBy(
            () -> files.concat(name("/target"), new org.apache.hadoop.fs.Path[] {name("/source")}))
        .isInstanceOf(IOException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Files.size(root.resolve("target"))).isEqualTo(1);
    assertThat(Files.size(root.resolve("source"))).isEqualTo(1_000_000);
  }

  @Test
  void sourcesThatCannotBeDeletedAreNotAppended() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/target", 1, 1);
    Files.createDirectory(root.resolve("d"));
    write(files, "/d/source", 10, 2);
    files.setPermission(name("/d"), new FsPermission((short) 0555));
    assertThatThrownBy(
            () ->
                files.concat(name("/target"), new org.apache.hadoop.fs.Path[] {name("/d/source")}))
        .isInstanceOf(AccessControlException.class);
    assertThat(Files.size(root.resolve("target"))).isEqualTo(1);
  }

  @Test
  void ofTwoNamesOfOneFileTheOldOneGoesWhenItIsRenamedOntoTheOther() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/a", 10, 1);
    Files.createLink(root.resolve("b"), root.resolve("a"));
    ((MountedFileSystem) files).rename(name("/a"), name("/b"), true);
    assertThat(root.resolve("a")).doesNotExist();
    assertThat(Files.size(root.resolve("b"))).isEqualTo(10);
  }

  // Promise (how-to/filesystem): A large directory is listed whole
  @Test
  void aDirectoryThatGoesAwayWhileItIsListedIsNotTakenForOneThatEnds() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createDirectory(root.resolve("d"));
    for (int number = 0; number < 9000; number++) {
      Files.createFile(root.resolve("d/" + number));
    }
    RemoteIterator<FileStatus> some = files.listStatusIterator(name("/d"));
    RemoteIterator<FileStatus> all = files.listStatusIterator(name("/d"));
    Files.delete(root.resolve("d/" + 8999));
    Files.delete(root.resolve("d/" + 7));
    int found = 0;
    for (; all.hasNext(); all.next()) {
      found++;
    }
    assertThat(found).isBetween(8998, 9000);
    Files.move(root.resolve("d"), root.resolve("elsewhere"));
    assertThatThrownBy(
            () -> {
              while (some.hasNext()) {
                some.next();
              }
            })
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("went away");
  }

  @Test
  void aReaderThatIsInterruptedIsToldSoByEveryCall() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/file", 10, 1);
    try (FSDataInputStream in = files.open(name("/file"))) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(in::available)
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining("/file");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(in.available()).isEqualTo(10);
    }
  }

  @Test
  void aFileIsNotAppendedToItselfByAnotherName() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createDirectory(root.resolve("d"));
    Files.createSymbolicLink(root.resolve("link"), root.resolve("d"));
    write(files, "/d/a", 10, 1);
    assertThatThrownBy(
            () -> files.concat(name("/d/a"), new org.apache.hadoop.fs.Path[] {name("/link/a")}))
        .hasMessageContaining("by whatever name");
    assertThat(Files.size(root.resolve("d/a"))).isEqualTo(10);
  }

  @Test
  void aFileThatIsOverwrittenOrRenamedWhileItIsWrittenKeepsItsOwnChecksums() throws IOException {
    FileSystem files = TemporaryMount.open(root, "checksum", "true", "preallocate", "1m");
    FSDataOutputStream first = files.create(name("/v"), true);
    first.write(new byte[] {1, 1, 1, 1});
    write(files, "/v", 4, 2);
    first.close();
    try (FSDataInputStream in = files.open(name("/v"))) {
      byte[] read = new byte[4];
      in.readFully(read);
      assertThat(read).containsExactly(2, 2, 2, 2);
    }
    FSDataOutputStream moved = files.create(name("/w"));
    moved.write(3);
    files.rename(name("/w"), name("/w2"));
    moved.close();
    assertThat(files.open(name("/w2")).read()).isEqualTo(3);
  }

  @Test
  void whatIsAppendedWhileAFileIsReadIsNoDamage() throws IOException {
    FileSystem files = TemporaryMount.open(root, "checksum", "true");
    write(files, "/file", 10, 1);
    write(files, "/empty", 0, 1);
    for (String path : new String[] {"/file", "/empty"}) {
      try (FSDataInputStream in = files.open(name(path))) {
        try (FSDataOutputStream out = files.append(name(path))) {
          out.write(new byte[] {9, 9});
        }
        byte[] all = new byte[20];
        int count = in.read(all);
        assertThat(all[count - 1]).isEqualTo((byte) 9);
      }
    }
  }

  // Promise (how-to/filesystem): Two who append on one host lose nothing
  @Test
  void twoWhoAppendAtOnceLoseNothing() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    write(files, "/log", 0, 0);
    FSDataOutputStream one = files.append(name("/log"));
    FSDataOutputStream other = files.append(name("/log"));
    for (int i = 0; i < 10; i++) {
      one.write(1);
      one.hflush();
      other.write(2);
      other.hflush();
    }
    one.close();
    other.close();
    assertThat(Files.size(root.resolve("log"))).isEqualTo(20);
  }
}
