package org.howdah.workloads;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The numbers from 0 to {@link #TOTAL}, cut into blocks of {@link #BLOCK} and these into as many
 * splits as maps were asked for. A record is the first number of a block and how many it has. What
 * a block is does not depend on the number of maps.
 */
public final class RangeInputFormat extends InputFormat<LongWritable, LongWritable> {
  static final String TOTAL = "howdah.range.total";
  static final String BLOCK = "howdah.range.block";
  private static final String SPLITS = "howdah.range.splits";

  /** Of a job that is not yet made: in one that runs in its client, Hadoop says one map always. */
  static void configure(Configuration conf, long total, long block) {
    conf.setLong(TOTAL, total);
    conf.setLong(BLOCK, block);
    conf.setInt(SPLITS, conf.getInt(MRJobConfig.NUM_MAPS, 1));
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) {
    Configuration conf = context.getConfiguration();
    long total = conf.getLong(TOTAL, 0);
    long block = conf.getLong(BLOCK, 1);
    long blocks = (total + block - 1) / block;
    int maps = conf.getInt(SPLITS, 1);
    List<InputSplit> splits = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      long first = block * share(blocks, map, maps);
      long end = Math.min(total, block * share(blocks, map + 1, maps));
      splits.add(new Range(first, end));
    }
    return splits;
  }

  /**
   * How many of {@code blocks} the maps before {@code map} have; no product that could overflow.
   */
  private static long share(long blocks, int map, int maps) {
    return blocks / maps * map + Math.min(map, blocks % maps);
  }

  @Override
  public RecordReader<LongWritable, LongWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  /** The numbers from {@code first} up to, not with, {@code end}. */
  static final class Range extends InputSplit implements Writable {
    private long first;
    private long end;

    /** For deserialisation. */
    Range() {}

    Range(long first, long end) {
      this.first = first;
      this.end = end;
    }

    long first() {
      return first;
    }

    @Override
    public long getLength() {
      return end - first;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeLong(first);
      out.writeLong(end);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      first = in.readLong();
      end = in.readLong();
    }
  }

  private static final class Reader extends RecordReader<LongWritable, LongWritable> {
    private final LongWritable key = new LongWritable();
    private final LongWritable value = new LongWritable();
    private long block;
    private long first;
    private long next;
    private long end;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {
      Range range = (Range) split;
      block = context.getConfiguration().getLong(BLOCK, 1);
      first = range.first;
      next = range.first;
      end = range.end;
    }

    @Override
    public boolean nextKeyValue() {
      if (next >= end) {
        return false;
      }
      key.set(next);
      value.set(Math.min(block, end - next));
      next += value.get();
      return true;
    }

    @Override
    public LongWritable getCurrentKey() {
      return key;
    }

    @Override
    public LongWritable getCurrentValue() {
      return value;
    }

    @Override
    public float getProgress() {
      return end == first ? 1 : (float) (next - first) / (end - first);
    }

    @Override
    public void close() {}
  }
}
