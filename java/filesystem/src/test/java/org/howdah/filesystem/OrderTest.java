package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.join.CompositeInputFormat;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listings are sorted as HDFS sorts them. In memory, where the kernel lists the newest first. */
class OrderTest {
  private static final org.apache.hadoop.fs.Path TOP = new org.apache.hadoop.fs.Path("/");

  /** Names of which an iterator makes statuses in three steps. */
  private static final int LARGE = 17_000;

  /** As a NameNode of Hadoop 3.4.2 listed them, three at a time. */
  private static final List<String> AS_HDFS =
      Arrays.asList("é ～ 🐘 0 Z a aé a~ part part-é part-b part-~ z ~".split(" "));

  private Path root;
  private FileSystem files;

  @BeforeEach
  void open() throws IOException {
    Path memory = Paths.get("/dev/shm");
    root =
        Files.createTempDirectory(
            Files.isDirectory(memory) ? memory : Paths.get("target"), "howdah");
    root = root.toAbsolutePath();
    files = TemporaryMount.open(root);
  }

  @AfterEach
  void delete() throws IOException {
    files.close();
    Tree.deleteAll(root);
  }

  private void make(List<String> names) throws IOException {
    for (String name : names) {
      Files.createFile(root.resolve(name));
    }
  }

  private static List<String> numbered(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> String.format("part-r-%05d", i))
        .collect(Collectors.toList());
  }

  private static List<String> shuffled(List<String> names) {
    List<String> shuffled = new ArrayList<>(names);
    Collections.shuffle(shuffled, new Random(names.size()));
    return shuffled;
  }

  private static List<String> names(FileStatus[] listed) {
    return Arrays.stream(listed).map(one -> one.getPath().getName()).collect(Collectors.toList());
  }

  private static List<String> names(RemoteIterator<? extends FileStatus> listed)
      throws IOException {
    List<String> names = new ArrayList<>();
    while (listed.hasNext()) {
      names.add(listed.next().getPath().getName());
    }
    return names;
  }

  private void checkAllListings(List<String> expected) throws IOException {
    assertThat(names(files.listStatus(TOP))).isEqualTo(expected);
    assertThat(names(files.listStatus(TOP, path -> true))).isEqualTo(expected);
    assertThat(names(files.listStatusIterator(TOP))).isEqualTo(expected);
    assertThat(names(files.listLocatedStatus(TOP))).isEqualTo(expected);
    assertThat(names(files.listFiles(TOP, true))).isEqualTo(expected);
    Configuration conf = TemporaryMount.configured(root);
    conf.set("fs.AbstractFileSystem.posixfs.impl", PosixFs.class.getName());
    FileContext context = FileContext.getFileContext(URI.create("posixfs:///"), conf);
    assertThat(names(context.listStatus(TOP))).isEqualTo(expected);
    assertThat(names(context.listLocatedStatus(TOP))).isEqualTo(expected);
    assertThat(names(context.util().listStatus(TOP))).isEqualTo(expected);
    assertThat(names(context.util().listFiles(TOP, true))).isEqualTo(expected);
  }

  // Promise (how-to/filesystem): Listings and iterators are sorted by name, as in HDFS
  @Test
  void everyListingIsSortedByName() throws IOException {
    List<String> sorted = numbered(300);
    make(shuffled(sorted));
    checkAllListings(sorted);
  }

  // Promise (how-to/filesystem): Listings and iterators are sorted by name, as in HDFS
  @Test
  void namesThatAreNotAsciiComeWhereHdfsHasThem() throws IOException {
    make(shuffled(AS_HDFS));
    checkAllListings(AS_HDFS);
  }

  // Promise (how-to/filesystem): Listings and iterators are sorted by name, as in HDFS
  @Test
  void aLargeDirectoryIsSortedByIteratorsToo() throws IOException {
    List<String> sorted = numbered(LARGE);
    make(shuffled(sorted));
    assertThat(names(files.listStatusIterator(TOP))).isEqualTo(sorted);
    assertThat(names(files.listLocatedStatus(TOP))).isEqualTo(sorted);
  }

  /** It cannot be opened, but it is listed. The oldest one is the last that the kernel lists. */
  @Test
  void anIteratorLeavesOutNoNameThatIsNotInTheEncoding() throws Exception {
    String[] command = {"sh", "-c", "touch \"$(printf 'x\\377y')\""};
    assertThat(new ProcessBuilder(command).directory(root.toFile()).start().waitFor()).isZero();
    List<String> sorted = numbered(LARGE);
    make(sorted);
    List<String> expected = new ArrayList<>(sorted);
    expected.add("x\uFFFDy");
    assertThat(names(files.listStatusIterator(TOP))).isEqualTo(expected);
  }

  @Test
  void whatIsDeletedWhileItIsIteratedIsLeftOutInItsPlace() throws IOException {
    List<String> sorted = numbered(LARGE);
    make(shuffled(sorted));
    RemoteIterator<FileStatus> listed = files.listStatusIterator(TOP);
    listed.next();
    for (String name : sorted.subList(1, LARGE)) {
      Files.delete(root.resolve(name));
    }
    List<String> rest = names(listed);
    assertThat(rest).isSorted().doesNotContain(sorted.get(0));
    assertThat(rest.size()).as("of those that were looked at before").isLessThan(LARGE - 1);
  }

  /**
   * It takes the place of a file in a listing for the number of its partition, and pairs those of
   * the same number.
   */
  // Promise (how-to/filesystem): A map-side join pairs the partitions of the same number
  @Test
  void aMapSideJoinPairsThePartitionsOfTheSameNumber() throws Exception {
    int parts = 8;
    int records = 100;
    for (int part = 0; part < parts; part++) {
      write("/a/part-r-%05d", part, records);
    }
    for (int part : new int[] {3, 0, 6, 1, 7, 4, 2, 5}) {
      write("/b/part-%05d", part, records);
    }
    assertThat(joined()).isEqualTo(parts * records);
  }

  private void write(String name, int part, int records) throws IOException {
    SequenceFile.Writer.Option file =
        SequenceFile.Writer.file(
            files.makeQualified(new org.apache.hadoop.fs.Path(String.format(name, part))));
    try (SequenceFile.Writer out =
        SequenceFile.createWriter(
            configured(),
            file,
            SequenceFile.Writer.keyClass(IntWritable.class),
            SequenceFile.Writer.valueClass(Text.class))) {
      for (int i = 0; i < records; i++) {
        out.append(new IntWritable(part * records + i), new Text(name));
      }
    }
  }

  private Configuration configured() {
    return TemporaryMount.configured(root, "impl.disable.cache", "true");
  }

  /** Records that every map of the job gets, one after the other. */
  private int joined() throws IOException, InterruptedException, ReflectiveOperationException {
    Configuration conf = configured();
    conf.set(
        CompositeInputFormat.JOIN_EXPR,
        CompositeInputFormat.compose(
            "inner", SequenceFileInputFormat.class, "posixfs:///a", "posixfs:///b"));
    TaskAttemptID attempt = TaskAttemptID.forName("attempt_1_0001_m_000000_0");
    conf.set(MRJobConfig.TASK_ATTEMPT_ID, attempt.toString());
    CompositeInputFormat<IntWritable> input = new CompositeInputFormat<>();
    int count = 0;
    for (InputSplit split : input.getSplits(Job.getInstance(conf))) {
      TaskAttemptContext task = new TaskAttemptContextImpl(conf, attempt);
      try (RecordReader<IntWritable, TupleWritable> in = input.createRecordReader(split, task)) {
        in.initialize(split, task);
        while (in.nextKeyValue()) {
          count++;
        }
      }
    }
    return count;
  }
}
