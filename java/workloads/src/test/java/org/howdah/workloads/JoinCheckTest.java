package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.howdah.workloads.LocalJobs.count;
import static org.howdah.workloads.LocalJobs.run;

import java.nio.file.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.join.CompositeInputFormat;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JoinCheckTest {
  @TempDir Path directory;

  private String sorted;
  private String joined;

  /** One key of the first file is there twice: the join has four records of it. */
  @BeforeEach
  void sortedFiles() throws Exception {
    sorted = directory.resolve("sorted").toString();
    joined = directory.resolve("joined").toString();
    Sequences.write(directory.resolve("sorted/part-r-00000"), "a=1 c=2 c=3 e=4");
    Sequences.write(directory.resolve("sorted/part-r-00001"), "b=5");
    Sequences.write(directory.resolve("sorted/part-r-00002"), "");
  }

  private Counters check() throws Exception {
    return run(JoinCheck.job(LocalJobs.settings(), sorted, joined));
  }

  /** Joins as Hadoop's example does. */
  private void join(String operation) throws Exception {
    Job job = Job.getInstance(LocalJobs.settings());
    job.getConfiguration()
        .set(
            CompositeInputFormat.JOIN_EXPR,
            CompositeInputFormat.compose(operation, SequenceFileInputFormat.class, sorted, sorted));
    job.setInputFormatClass(CompositeInputFormat.class);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    job.setMapperClass(Mapper.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(TupleWritable.class);
    SequenceFileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(joined));
    run(job);
  }

  @Test
  void whatMapReduceJoinsIsRight() throws Exception {
    join("inner");
    Counters found = check();
    assertThat(count(found, JoinCheck.Sorted.RECORDS)).isEqualTo(5);
    assertThat(count(found, JoinCheck.Sorted.BYTES)).isEqualTo(10);
    assertThat(count(found, JoinCheck.Sorted.DISORDER)).isZero();
    assertThat(count(found, JoinCheck.Expected.RECORDS)).isEqualTo(7);
    assertThat(count(found, JoinCheck.Joined.RECORDS)).isEqualTo(7);
    assertThat(count(found, JoinCheck.Joined.HASHES))
        .isEqualTo(count(found, JoinCheck.Expected.HASHES));
  }

  @Test
  void sortedFilesThatAreNotAreSeen() throws Exception {
    join("inner");
    Sequences.write(directory.resolve("sorted/part-r-00000"), "c=2 a=1 c=3 e=4");
    assertThat(count(check(), JoinCheck.Sorted.DISORDER)).isEqualTo(1);
  }

  /** As a join writes it: how many sides, which are there, their types, those that are there. */
  private static TupleWritable tuple(String sides) throws Exception {
    DataOutputBuffer out = new DataOutputBuffer();
    WritableUtils.writeVInt(out, sides.length());
    long there = 0;
    for (int side = 0; side < sides.length(); side++) {
      there |= sides.charAt(side) == '.' ? 0 : 1L << side;
    }
    WritableUtils.writeVLong(out, there);
    for (int side = 0; side < sides.length(); side++) {
      Text.writeString(out, BytesWritable.class.getName());
    }
    for (char side : sides.replace(".", "").toCharArray()) {
      Sequences.bytes(String.valueOf(side)).write(out);
    }
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    TupleWritable tuple = new TupleWritable();
    tuple.readFields(in);
    return tuple;
  }

  /** Each record is a key and its sides; {@code .} is a side that is not there. */
  private void writeJoined(String records) throws Exception {
    String[] words = records.split(" ");
    Writable[] all = new Writable[2 * words.length];
    for (int at = 0; at < words.length; at++) {
      all[2 * at] = Sequences.bytes(words[at].substring(0, 1));
      all[2 * at + 1] = tuple(words[at].substring(1));
    }
    Sequences.write(directory.resolve("joined/part-m-00000"), TupleWritable.class, all);
  }

  @ParameterizedTest
  @CsvSource({
    "a11 c22 c23 c32 c33 e44 b55, true, true",
    "b55 e44 c33 c23 c32 c22 a11, true, true", // In any order.
    "a11 c22 c23 c32 c33 e44, false, false", // A record is lost.
    "a11 c22 c23 c32 c33 e44 b55 b55, false, false", // One is there twice.
    "a11 c22 c23 c23 c33 e44 b55, true, false", // One is there twice instead of another.
    "a14 c22 c23 c32 c33 e44 b55, true, false", // A side is another key's.
    "a11 c22 c23 c32 c33 e44 b5., true, false", // A side is missing.
    "a11 c22 c23 c32 c33 e44 b555, true, false", // There are three sides.
  })
  void everyErrorIsSeen(String records, boolean asMany, boolean asExpected) throws Exception {
    writeJoined(records);
    Counters found = check();
    assertThat(count(found, JoinCheck.Joined.RECORDS) == count(found, JoinCheck.Expected.RECORDS))
        .isEqualTo(asMany);
    assertThat(count(found, JoinCheck.Joined.HASHES) == count(found, JoinCheck.Expected.HASHES))
        .isEqualTo(asExpected);
  }
}
