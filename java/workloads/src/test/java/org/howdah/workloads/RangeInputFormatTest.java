package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RangeInputFormatTest {
  @ParameterizedTest
  @CsvSource({"0, 10, 3", "1, 10, 1", "100, 10, 3", "101, 10, 3", "5, 1, 10", "1000003, 64, 7"})
  void theSplitsAreAllNumbersInTheSameBlocksForAnyNumberOfMaps(long total, long block, int maps)
      throws Exception {
    List<Long> one = blocks(total, block, 1);
    assertThat(blocks(total, block, maps)).isEqualTo(one);
    assertThat(one.stream().mapToLong(Long::longValue).sum()).isEqualTo(total);
  }

  private static List<Long> blocks(long total, long block, int maps) throws Exception {
    Configuration conf = new Configuration(false);
    conf.setInt("mapreduce.job.maps", maps);
    RangeInputFormat.configure(conf, total, block);
    RangeInputFormat format = new RangeInputFormat();
    List<InputSplit> splits = format.getSplits(Job.getInstance(conf));
    assertThat(splits).hasSize(maps);
    TaskAttemptContext context = new TaskAttemptContextImpl(conf, new TaskAttemptID());
    List<Long> lengths = new ArrayList<>();
    long next = 0;
    for (InputSplit split : splits) {
      long before = next;
      try (RecordReader<LongWritable, LongWritable> reader =
          format.createRecordReader(split, context)) {
        reader.initialize(split, context);
        while (reader.nextKeyValue()) {
          assertThat(reader.getCurrentKey().get()).isEqualTo(next);
          lengths.add(reader.getCurrentValue().get());
          next += reader.getCurrentValue().get();
        }
        assertThat(reader.getProgress()).isEqualTo(1);
      }
      assertThat(split.getLength()).isEqualTo(next - before);
    }
    return lengths;
  }
}
