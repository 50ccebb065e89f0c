package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.howdah.workloads.LocalJobs.count;
import static org.howdah.workloads.LocalJobs.run;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BinaryComparable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShuffleLoadTest {
  private static final int RECORDS = 20_000;

  private static Configuration settings(
      boolean text, boolean reverse, int prefix, int distinct, double skew) {
    Configuration conf = LocalJobs.settings();
    conf.setInt("mapreduce.job.reduces", 3);
    conf.setInt(ShuffleKeys.BYTES, 24);
    conf.setInt(ShuffleKeys.PREFIX, prefix);
    conf.setInt(ShuffleKeys.DISTINCT, distinct);
    conf.setBoolean(ShuffleKeys.TEXT, text);
    conf.setBoolean(ShuffleKeys.REVERSE, reverse);
    conf.setDouble(ShuffleKeys.SKEW, skew);
    return conf;
  }

  @ParameterizedTest
  @CsvSource({
    "false, false, 0, 0, 0", "false, false, 12, 0, 1.5", "true, false, 0, 500, 0",
    "true, true, 12, 0, 0", "false, true, 0, 500, 1.1", "true, false, 20, 0, 0"
  })
  void whatIsSentArrivesInOrder(
      boolean text, boolean reverse, int prefix, int distinct, double skew) throws Exception {
    Counters counters =
        run(ShuffleLoad.job(settings(text, reverse, prefix, distinct, skew), RECORDS));
    assertThat(count(counters, ShuffleLoad.Received.RECORDS)).isEqualTo(RECORDS);
    assertThat(count(counters, ShuffleLoad.Received.CHECKSUM))
        .isEqualTo(count(counters, ShuffleLoad.Sent.CHECKSUM));
    assertThat(count(counters, ShuffleLoad.Received.DISORDER)).isZero();
    assertThat(count(counters, ShuffleLoad.Received.MISPLACED)).isZero();
  }

  /** Looks for the order that the job does not have. */
  static final class Mistaken extends Reducer<BinaryComparable, BytesWritable, Object, Object> {
    private final ShuffleLoad.Receiver receiver = new ShuffleLoad.Receiver();

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public void run(Context context) throws java.io.IOException, InterruptedException {
      context.getConfiguration().setBoolean(ShuffleKeys.REVERSE, true);
      receiver.run((Reducer.Context) context);
    }
  }

  @Test
  void anotherOrderIsNoticed() throws Exception {
    Job job = ShuffleLoad.job(settings(false, false, 0, 0, 0), RECORDS);
    job.setReducerClass(Mistaken.class);
    assertThat(count(run(job), ShuffleLoad.Received.DISORDER)).isEqualTo(RECORDS - 3);
  }

  /** Sends the keys of each partition to the next one. */
  static final class NextPartition extends Partitioner<BinaryComparable, BytesWritable> {
    private final ShuffleKeys.FirstBytes own = new ShuffleKeys.FirstBytes();

    @Override
    public int getPartition(BinaryComparable key, BytesWritable value, int partitions) {
      return (own.getPartition(key, value, partitions) + 1) % partitions;
    }
  }

  @Test
  void keysInAnotherPartitionAreNoticed() throws Exception {
    Job job = ShuffleLoad.job(settings(false, false, 0, 0, 0), RECORDS);
    job.setPartitionerClass(NextPartition.class);
    Counters counters = run(job);
    assertThat(count(counters, ShuffleLoad.Received.RECORDS)).isEqualTo(RECORDS);
    assertThat(count(counters, ShuffleLoad.Received.DISORDER)).isZero();
    assertThat(count(counters, ShuffleLoad.Received.MISPLACED)).isEqualTo(RECORDS);
  }

  private static Set<String> keys(Configuration conf, int draws) {
    ShuffleKeys keys = new ShuffleKeys(conf, 3);
    RandomBits random = new RandomBits(1, 1);
    ShuffleKeys.FirstBytes partitioner = new ShuffleKeys.FirstBytes();
    Set<String> found = new HashSet<>();
    for (int draw = 0; draw < draws; draw++) {
      BinaryComparable key = keys.draw(random);
      assertThat(key.getLength()).isEqualTo(24);
      assertThat(partitioner.getPartition(key, null, 3)).isBetween(0, 2);
      found.add(Arrays.toString(Arrays.copyOf(key.getBytes(), key.getLength())));
    }
    return found;
  }

  @Test
  void keysAreAsDistinctAsAsked() {
    assertThat(keys(settings(true, false, 0, 50, 0), 5000)).hasSize(50);
    assertThat(keys(settings(false, false, 16, 50, 0), 5000)).hasSize(50);
    assertThat(keys(settings(false, false, 0, 0, 0), 5000)).hasSize(5000);
    assertThat(keys(settings(true, false, 20, 0, 0), 5000)).as("nothing but partitions").hasSize(3);
  }

  @Test
  void theComparatorReversesTheTypes() {
    Configuration conf = settings(true, true, 0, 0, 0);
    ShuffleKeys.Backwards backwards = new ShuffleKeys.Backwards();
    backwards.setConf(conf);
    WritableComparator own = WritableComparator.get(Text.class);
    byte[] one = {2, 'a', 'b'};
    byte[] other = {2, 'a', 'c'};
    assertThat(backwards.compare(one, 0, 3, other, 0, 3)).isPositive();
    assertThat(own.compare(one, 0, 3, other, 0, 3)).isNegative();
    assertThat(backwards.compare(new Text("ab"), new Text("ac"))).isPositive();
  }
}
