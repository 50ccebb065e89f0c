package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.junit.jupiter.api.Test;

class FoldTableTest {
  private static JobConf job(Class<?> combiner, Class<?> values) {
    JobConf job = new JobConf();
    job.setClass("mapreduce.job.combine.class", combiner, Object.class);
    job.setMapOutputValueClass(values);
    return job;
  }

  // Promise (how-to/accelerate): Only combiners that are known to add are replaced by sums
  @Test
  void equalKeysOfAPartitionAreAddedUpOverflowIncluded() throws Exception {
    Fold fold = Folds.of(job(IntSumReducer.class, IntWritable.class));
    RecordBuffer buffer = new RecordBuffer(3, 1 << 28, true, () -> {});
    FoldTable table = new FoldTable(buffer, fold);
    Map<String, Integer> sums = new HashMap<>();
    Random random = new Random(5);
    for (int number = 0; number < 200_000; number++) {
      int partition = random.nextInt(3);
      String key = "w" + (int) Math.exp(random.nextDouble() * 10);
      int value = random.nextInt();
      sums.merge(partition + key, value, Integer::sum);
      buffer.begin();
      new Text(key).write(buffer.output());
      buffer.keyDone();
      new IntWritable(value).write(buffer.output());
      if (table.fold(partition)) {
        buffer.drop();
      } else {
        table.put(buffer.add(0, partition));
      }
    }
    assertThat(buffer.count()).isEqualTo(sums.size());
    assertThat(read(buffer)).isEqualTo(sums);
  }

  @Test
  void aKeyWhoseValuesCannotBeAddedIsNotedOnce() throws Exception {
    RecordBuffer buffer = new RecordBuffer(1, 1 << 28, true, () -> {});
    FoldTable table =
        new FoldTable(buffer, (target, into, intoLength, data, from, length) -> false);
    for (int number = 0; number < 200_000; number++) {
      buffer.begin();
      new Text("hot" + number % 3).write(buffer.output());
      buffer.keyDone();
      new IntWritable(number).write(buffer.output());
      assertThat(table.fold(0)).isFalse();
      table.put(buffer.add(0, 0));
    }
    assertThat(buffer.count()).isEqualTo(200_000);
    assertThat(table.size()).isEqualTo(3);
  }

  private static Map<String, Integer> read(RecordBuffer buffer) throws IOException {
    Map<String, Integer> found = new HashMap<>();
    for (int partition = 0; partition < 3; partition++) {
      int count = buffer.count(partition);
      List<long[]> blocks = buffer.takeEntries(partition);
      for (int number = 0; number < count; number++) {
        long[] block = blocks.get(0);
        int at = 2 * number;
        for (int next = 1; at >= block.length; next++) {
          at -= block.length;
          block = blocks.get(next);
        }
        long entry = block[at + 1];
        byte[] page = buffer.page(entry);
        org.apache.hadoop.io.DataInputBuffer in = new org.apache.hadoop.io.DataInputBuffer();
        in.reset(page, EntrySort.Key.start(page, RecordBuffer.offset(entry)), page.length);
        Text key = new Text();
        key.readFields(in);
        assertThat(RecordBuffer.partition(entry)).isEqualTo(partition);
        found.put(partition + key.toString(), in.readInt());
      }
    }
    return found;
  }

  // Promise (how-to/accelerate): Only combiners that are known to add are replaced by sums
  @Test
  void onlyKnownCombinersAreFolded() throws Exception {
    assertThat(Folds.of(job(LongSumReducer.class, LongWritable.class))).isNotNull();
    assertThat(Folds.of(job(LongSumReducer.class, IntWritable.class))).isNull();
    assertThat(Folds.of(job(Jobs.TextSum.class, LongWritable.class))).isNull();
    assertThat(Folds.of(new JobConf())).isNull();
    JobConf other = job(IntSumReducer.class, IntWritable.class);
    other.set("io.serializations", "org.apache.hadoop.io.serializer.JavaSerialization");
    assertThat(Folds.of(other)).isNull();
  }
}
