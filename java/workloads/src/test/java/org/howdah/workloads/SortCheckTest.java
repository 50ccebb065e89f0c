package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.howdah.workloads.LocalJobs.count;
import static org.howdah.workloads.LocalJobs.run;

import java.nio.file.Path;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SortCheckTest {
  @TempDir Path directory;

  private Path input;
  private Path output;

  @BeforeEach
  void places() {
    input = directory.resolve("input");
    output = directory.resolve("output");
  }

  private Counters check(Configuration conf) throws Exception {
    return run(SortCheck.job(conf, input.toString(), output.toString()));
  }

  private static boolean same(Counters found, SortCheck.Input read, SortCheck.Output written) {
    return count(found, read) == count(found, written);
  }

  /** Which checks pass, by their first letters, and what is wrong with keys. */
  private String verdict() throws Exception {
    Counters found = check(LocalJobs.settings());
    String passed =
        (same(found, SortCheck.Input.RECORDS, SortCheck.Output.RECORDS) ? "R" : "-")
            + (same(found, SortCheck.Input.BYTES, SortCheck.Output.BYTES) ? "B" : "-")
            + (same(found, SortCheck.Input.HASHES, SortCheck.Output.HASHES) ? "H" : "-");
    return String.join(
        " ",
        passed,
        String.valueOf(count(found, SortCheck.Output.DISORDER)),
        String.valueOf(count(found, SortCheck.Output.MISPLACED)));
  }

  /** Of two reduces, those of a, c and e are the first and those of b and d the second. */
  @ParameterizedTest
  @CsvSource({
    "a=1 c=22 c=23 e=3, b=4 d=5, RBH 0 0",
    "a=1 c=23 c=22 e=3, b=4 d=5, RBH 0 0",
    "a=3 c=22 c=23 e=1, b=4 d=5, RB- 0 0", // Two values are swapped.
    "c=22 a=1 c=23 e=3, b=4 d=5, RBH 1 0", // A record comes too late.
    "e=3 c=23 c=22 a=1, b=4 d=5, RBH 2 0",
    "a=1 c=22 c=23, b=4 d=5 e=3, RBH 0 1", // A key is in the other file.
    "b=4 d=5, a=1 c=22 c=23 e=3, RBH 0 6", // All are.
    "a=1 c=22 c=23 e=3, b=4, --- 0 0", // A record is lost.
    "a=1 c=22 c=23 e=3, b=4 d=5 d=5, --- 0 0", // One is there twice.
    "a=1 a=1 c=22 c=22 c=23 c=23 e=3, b=4 d=5, --- 0 0", // Pairs that an exclusive or leaves out.
    "a=1 c=22 c=22 e=3, b=4 d=5, RB- 0 0", // One is there twice instead of another.
    "a=1 c=22 c=23 e=3, b=4 d=6, RB- 0 0", // A value is damaged.
    "a=1 c=2 c=223 e=3, b=4 d=5, RB- 0 0", // A byte of a value is another record's.
  })
  void everyErrorIsSeen(String first, String second, String verdict) throws Exception {
    Sequences.write(input.resolve("part-m-00000"), "d=5 c=22 a=1 b=4");
    Sequences.write(input.resolve("part-m-00001"), "e=3 c=23");
    Sequences.write(output.resolve("part-r-00000"), first);
    Sequences.write(output.resolve("part-r-00001"), second);
    Sequences.write(output.resolve("_logs"), "not=read");
    assertThat(verdict()).isEqualTo(verdict);
  }

  @Test
  void bytesMayNotMoveBetweenKeyAndValue() throws Exception {
    Sequences.write(input.resolve("part-m-00000"), "ab=c");
    Sequences.write(output.resolve("part-r-00000"), "a=bc");
    assertThat(verdict()).isEqualTo("RB- 0 0");
  }

  @Test
  void bytesHaveNoSignAndShorterKeysComeFirst() throws Exception {
    BytesWritable low = new BytesWritable(new byte[] {0x7f});
    BytesWritable high = new BytesWritable(new byte[] {(byte) 0x80});
    BytesWritable longer = new BytesWritable(new byte[] {(byte) 0x80, 0});
    BytesWritable value = Sequences.bytes("v");
    Writable[] records = {low, value, high, value, longer, value};
    Sequences.write(input.resolve("part-m-00000"), BytesWritable.class, records);
    Sequences.write(output.resolve("part-r-00000"), BytesWritable.class, records);
    assertThat(verdict()).isEqualTo("RBH 0 0");
    records = new Writable[] {longer, value, high, value, low, value};
    Sequences.write(output.resolve("part-r-00000"), BytesWritable.class, records);
    assertThat(verdict()).isEqualTo("RBH 2 0");
  }

  @Test
  void filesOfAnyNameHaveANumber() {
    assertThat(SortCheck.partitionOf(new org.apache.hadoop.fs.Path("/out/part-r-00012")))
        .isEqualTo(12);
    assertThat(SortCheck.partitionOf(new org.apache.hadoop.fs.Path("/out/part-00003")))
        .isEqualTo(3);
    assertThat(SortCheck.partitionOf(new org.apache.hadoop.fs.Path("/out-1/data"))).isEqualTo(-1);
  }

  /** Sorts the input as Hadoop's example does. */
  private void sort(Configuration conf, int reduces) throws Exception {
    Job job = Job.getInstance(conf);
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    job.setMapperClass(Mapper.class);
    job.setReducerClass(Reducer.class);
    job.setNumReduceTasks(reduces);
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(BytesWritable.class);
    SequenceFileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    SequenceFileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(output.toUri()));
    run(job);
  }

  /** The files are longer than a split may be. */
  @Test
  void whatMapReduceSortsIsRight() throws Exception {
    Random random = new Random(1);
    Writable[] records = new Writable[2 * 3000];
    for (int at = 0; at < records.length; at++) {
      byte[] bytes = new byte[random.nextInt(200)];
      random.nextBytes(bytes);
      records[at] = new BytesWritable(bytes);
    }
    Sequences.write(input.resolve("part-m-00000"), BytesWritable.class, records);
    Configuration conf = LocalJobs.settings();
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", 50_000);
    sort(conf, 3);
    Counters found = check(conf);
    assertThat(count(found, SortCheck.Input.RECORDS)).isEqualTo(3000);
    assertThat(count(found, SortCheck.Output.RECORDS)).isEqualTo(3000);
    assertThat(same(found, SortCheck.Input.BYTES, SortCheck.Output.BYTES)).isTrue();
    assertThat(same(found, SortCheck.Input.HASHES, SortCheck.Output.HASHES)).isTrue();
    assertThat(count(found, SortCheck.Output.FILES)).isEqualTo(3);
    assertThat(count(found, SortCheck.Output.DISORDER)).isZero();
    assertThat(count(found, SortCheck.Output.MISPLACED)).isZero();
  }
}
