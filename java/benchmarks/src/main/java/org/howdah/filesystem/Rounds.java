package org.howdah.filesystem;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * {@code Rounds OPERATION DIRECTORY COUNT STREAMS COMPUTE [KEY=VALUE...]}: one operation on one
 * file system, through Hadoop's interface alone, as a job calls it. Prints the seconds, the
 * processor seconds of this JVM (and of the processes whose ids the property {@code daemons} has)
 * and how much was done, after the same calls on files of their own have had the JVM compile what
 * it runs. The property {@code passes} says how often the operation is done, if not once; {@code
 * warm} another directory for the files that come before. With {@code cold}, a directory, what is
 * below it is taken out of memory just before, once the operation has been done: so the memory is
 * there that it needs, which a virtual machine gives back to its host where it is free for a while.
 *
 * <p>{@code write} and {@code read}: COUNT MiB in each of STREAMS files, COMPUTE ms of work per MiB
 * by each stream; {@code put} is {@code write} without fsync at the end. {@code position} and
 * {@code vector}: COUNT ranges of 64 KiB to 1 MiB of the first file, which {@code ranges} prints,
 * offset and length. {@code create}, {@code stat}, {@code list}, {@code rename}, {@code delete}:
 * COUNT files, whose paths are there before. {@code iterate}: all that is in the directory, by an
 * iterator; {@code first}: its first element alone.
 */
public final class Rounds {
  private static final int MIB = 1 << 20;
  private static final int CALL = 128 << 10;
  private static final int RANGES_AT_ONCE = 16;

  /**
   * What comes before the figures: the JVM compiles what was called some 5,000 times, and again
   * once it has met the end of a file.
   */
  private static final int WARM_TIMES = 8;

  private static final int WARM_STREAM = 256;

  private static final int WARM_RANGES = 1000;
  private static final int WARM_NAMES = 6000;

  /** Compiling all that a name needs takes the optimising compiler so long, beside the calls. */
  private static final long WARM_NAMES_NANOSECONDS = 4_000_000_000L;

  /** The compiler's threads go on for a while, on processors that a server may need to answer. */
  private static final int SETTLE_MILLISECONDS = 1500;

  private static final double NANOSECONDS = 1e9;

  private final FileSystem files;
  private final Path directory;
  private final int count;
  private final int streams;
  private final int compute;
  private final Path[] made;
  private final Path[] renamed;
  private List<FileRange> ranges;
  private volatile long sink;

  private Rounds(FileSystem files, Path directory, int count, int streams, int compute) {
    this.files = files;
    this.directory = directory;
    this.count = count;
    this.streams = streams;
    this.compute = compute;
    made = new Path[count];
    renamed = new Path[count];
    for (int i = 0; i < count; i++) {
      made[i] = new Path(directory, "file" + i);
      renamed[i] = new Path(directory, "renamed" + i);
    }
  }

  /** See the class. */
  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    for (int i = 5; i < arguments.length; i++) {
      String[] pair = arguments[i].split("=", 2);
      conf.set(pair[0], pair[1]);
    }
    Path directory = new Path(arguments[1]);
    FileSystem files = directory.getFileSystem(conf);
    files.mkdirs(directory);
    int count = Integer.parseInt(arguments[2]);
    Rounds rounds =
        new Rounds(
            files,
            directory,
            count,
            Integer.parseInt(arguments[3]),
            Integer.parseInt(arguments[4]));
    if (arguments[0].equals("ranges")) {
      for (FileRange range : rounds.ranges()) {
        System.out.println(range.getOffset() + " " + range.getLength());
      }
      return;
    }
    String cold = System.getProperty("cold", "");
    // What these load undoes some of what was compiled, as if one class were the only one of its
    // kind; so they load it before.
    processorTime();
    if (!cold.isEmpty()) {
      forget(cold);
    }
    Path beside = new Path(directory.getParent(), "warm");
    Path before = new Path(System.getProperty("warm", beside.toString()));
    warm(before.getFileSystem(conf), before, arguments[0], Math.min(count, WARM_NAMES));
    if (arguments[0].equals("position") || arguments[0].equals("vector")) {
      rounds.ranges(); // Which asks for the length of the file.
    }
    // What making the paths and being warm have left is not the cost of the calls.
    System.gc();
    Thread.sleep(SETTLE_MILLISECONDS);
    if (!cold.isEmpty()) {
      rounds.run(arguments[0]);
      forget(cold);
    }
    long began = System.nanoTime();
    long cpu = processorTime();
    long done = 0;
    for (int pass = 0; pass < Integer.getInteger("passes", 1); pass++) {
      done += rounds.run(arguments[0]);
    }
    double seconds = (System.nanoTime() - began) / NANOSECONDS;
    System.out.printf(
        "{\"seconds\": %.6f, \"cpu\": %.6f, \"done\": %d}%n",
        seconds, (processorTime() - cpu) / NANOSECONDS, done);
  }

  private static void warm(FileSystem files, Path directory, String operation, int count)
      throws Exception {
    files.mkdirs(directory);
    Rounds stream = new Rounds(files, directory, WARM_STREAM, 1, 0);
    Rounds ranges = new Rounds(files, directory, WARM_RANGES, 1, 0);
    Rounds names = new Rounds(files, directory, count, 1, 0);
    switch (operation) {
      case "write":
      case "read":
        for (int i = 0; i < WARM_TIMES; i++) {
          stream.run(i == 0 ? "write" : operation);
        }
        break;
      case "position":
      case "vector":
        stream.run("write");
        for (int i = 0; i < WARM_TIMES; i++) {
          ranges.run(operation);
        }
        break;
      default:
        // Of a few names what is called for each costs far more than Java's part of it.
        long end = System.nanoTime() + (count < WARM_NAMES ? 0 : WARM_NAMES_NANOSECONDS);
        do {
          for (String each : new String[] {"create", "stat", "list", "rename", "delete"}) {
            names.run(each);
          }
        } while (System.nanoTime() < end);
    }
    files.delete(directory, true);
  }

  /** Takes the files of a directory out of the page cache, as far as they are on the disk. */
  private static void forget(String directory) throws IOException, InterruptedException {
    String[] each = {
      "-type", "f", "-exec", "dd", "if={}", "iflag=nocache", "count=0", "status=none", ";"
    };
    List<String> command = new ArrayList<>(Arrays.asList("find", directory));
    command.addAll(Arrays.asList(each));
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new IOException("the files of " + directory + " could not be taken out of memory");
    }
  }

  private static long processorTime() {
    long daemons = 0;
    for (String pid : System.getProperty("daemons", "").split(",")) {
      if (!pid.isEmpty()) {
        daemons +=
            ProcessHandle.of(Long.parseLong(pid))
                .flatMap(process -> process.info().totalCpuDuration())
                .orElseThrow(() -> new IllegalStateException("process " + pid + " is gone"))
                .toNanos();
      }
    }
    return daemons
        + ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
  }

  private long run(String operation) throws Exception {
    switch (operation) {
      case "write":
        return parallel(number -> write(number, true));
      case "put":
        return parallel(number -> write(number, false));
      case "read":
        return parallel(this::read);
      case "position":
        return position();
      case "vector":
        return vector();
      default:
        return names(operation);
    }
  }

  private interface Stream {
    long run(int number) throws IOException;
  }

  private long parallel(Stream work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(streams);
    try {
      List<Callable<Long>> all = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        int number = i;
        all.add(() -> work.run(number));
      }
      long done = 0;
      for (Future<Long> one : pool.invokeAll(all)) {
        done += one.get();
      }
      return done;
    } finally {
      pool.shutdown();
    }
  }

  private Path file(int number) {
    return new Path(directory, "file" + number);
  }

  /** A new file; of HDFS, all of whose blocks are synchronised, not the last alone. */
  private FSDataOutputStream created(Path file) throws IOException {
    if (!files.getUri().getScheme().equals("hdfs")) {
      return files.create(file, true);
    }
    return files.create(
        file,
        FsPermission.getFileDefault(),
        EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE, CreateFlag.SYNC_BLOCK),
        CALL,
        files.getDefaultReplication(file),
        files.getDefaultBlockSize(file),
        null);
  }

  private long write(int number, boolean sync) throws IOException {
    byte[] bytes = new byte[CALL];
    new Random(number).nextBytes(bytes);
    try (FSDataOutputStream out = created(file(number))) {
      for (int i = 0; i < count * (MIB / CALL); i++) {
        work(CALL);
        ((OutputStream) out).write(bytes);
      }
      if (sync) {
        out.hsync();
      }
    }
    return (long) count * MIB;
  }

  private long read(int number) throws IOException {
    byte[] bytes = new byte[CALL];
    long done = 0;
    long sum = 0;
    try (FSDataInputStream in = files.open(file(number))) {
      for (int some; (some = ((InputStream) in).read(bytes)) > 0; done += some) {
        sum += bytes[0];
        work(some);
      }
    }
    sink = sum;
    return done;
  }

  /** As long as a mapper would compute on these bytes. */
  private void work(int bytes) {
    if (compute > 0) {
      long end = System.nanoTime() + (long) compute * 1_000_000 * bytes / MIB;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
    }
  }

  /**
   * Each in a MiB of its own, so that nothing is read twice before all of the file was asked for.
   */
  private List<FileRange> ranges() throws IOException {
    if (ranges != null) {
      return ranges;
    }
    Random random = new Random(count);
    List<Integer> places = new ArrayList<>();
    long length = files.getFileStatus(file(0)).getLen();
    for (int i = 0; i < length / MIB; i++) {
      places.add(i);
    }
    Collections.shuffle(places, random);
    ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int size = (64 << 10) << random.nextInt(5);
      long place = (long) places.get(i % places.size()) * MIB;
      ranges.add(FileRange.createFileRange(place + random.nextInt(MIB - size + 1), size));
    }
    return ranges;
  }

  private long position() throws IOException {
    byte[] bytes = new byte[MIB];
    long done = 0;
    try (FSDataInputStream in = files.open(file(0))) {
      for (FileRange range : ranges()) {
        in.readFully(range.getOffset(), bytes, 0, range.getLength());
        done += range.getLength();
      }
    }
    return done;
  }

  private long vector() throws Exception {
    long done = 0;
    List<FileRange> all = ranges();
    try (FSDataInputStream in = files.open(file(0))) {
      for (int i = 0; i < count; i += RANGES_AT_ONCE) {
        List<FileRange> some = new ArrayList<>();
        for (FileRange one : all.subList(i, Math.min(count, i + RANGES_AT_ONCE))) {
          some.add(FileRange.createFileRange(one.getOffset(), one.getLength()));
        }
        in.readVectored(some, ByteBuffer::allocate);
        for (FileRange range : some) {
          done += range.getData().get().remaining();
        }
      }
    }
    return done;
  }

  private long names(String operation) throws IOException {
    switch (operation) {
      case "create":
        for (Path file : made) {
          files.create(file, true).close();
        }
        return count;
      case "stat":
        long found = 0;
        for (Path file : made) {
          FileStatus status = files.getFileStatus(file);
          found += status.getOwner().length() + status.getPermission().toShort();
        }
        sink = found;
        return count;
      case "list":
        long listed = 0;
        for (FileStatus status : files.listStatus(directory)) {
          listed += status.getOwner().isEmpty() ? 0 : 1;
        }
        return listed;
      case "iterate":
      case "first":
        return iterate(operation.equals("first") ? 1 : Long.MAX_VALUE);
      case "rename":
        for (int i = 0; i < count; i++) {
          files.rename(made[i], renamed[i]);
        }
        return count;
      case "delete":
        for (Path file : renamed) {
          files.delete(file, false);
        }
        return count;
      default:
        throw new IllegalArgumentException("no operation " + operation);
    }
  }

  private long iterate(long most) throws IOException {
    long listed = 0;
    RemoteIterator<FileStatus> all = files.listStatusIterator(directory);
    while (listed < most && all.hasNext()) {
      listed += all.next().getOwner().isEmpty() ? 0 : 1;
    }
    return listed;
  }
}
