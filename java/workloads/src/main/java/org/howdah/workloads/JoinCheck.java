package org.howdah.workloads;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code joincheck SORTED JOINED}: whether the output of Hadoop's Join is the inner join of sorted
 * files with themselves, as counters: the records of the sorted files, their bytes and the keys
 * that are less than the one before; what their join has, records and hashes added up, and what is
 * there.
 */
public final class JoinCheck extends Configured implements Tool {
  /** Sums over all sorted files. */
  enum Sorted {
    RECORDS,
    BYTES,
    DISORDER
  }

  /** What the sorted files have to give; of {@code HASHES} the low 64 bits. */
  enum Expected {
    RECORDS,
    HASHES
  }

  /** See {@link Expected}. */
  enum Joined {
    RECORDS,
    HASHES
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new JoinCheck(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      System.err.println("Usage: joincheck SORTED JOINED");
      return 2;
    }
    return job(getConf(), arguments[0], arguments[1]).waitForCompletion(true) ? 0 : 1;
  }

  static Job job(Configuration conf, String sorted, String joined) throws IOException {
    Job job = CheckJob.of(conf, "joincheck", WholeSequences.class, Reader.class, sorted, joined);
    WholeSequences.configure(job, sorted);
    return job;
  }

  /** Reads a sorted file, or a part of what was joined. */
  static final class Reader extends Mapper<BytesWritable, Writable, NullWritable, NullWritable> {
    private final KeySteps order = new KeySteps();

    /** Hashes of the records with the same key. */
    private final List<Long> group = new ArrayList<>();

    private boolean sorted;
    private long records;
    private long bytes;
    private long disorder;
    private long pairs;
    private long hashes;

    @Override
    protected void setup(Context context) {
      FileSplit split = (FileSplit) context.getInputSplit();
      sorted = WholeSequences.has(context.getConfiguration(), split.getPath());
    }

    @Override
    protected void map(BytesWritable key, Writable value, Context context) {
      if (sorted) {
        follow(key, (BytesWritable) value);
      } else {
        pairs++;
        hashes += hash(key, (TupleWritable) value);
      }
    }

    private void follow(BytesWritable key, BytesWritable value) {
      records++;
      bytes += key.getLength() + value.getLength();
      int step = order.follow(key);
      disorder += step > 0 ? 1 : 0;
      if (step != 0) {
        join();
      }
      group.add(RecordHash.of(key, value));
    }

    /** Every record of the group meets every one. */
    private void join() {
      pairs += (long) group.size() * group.size();
      for (long left : group) {
        for (long right : group) {
          hashes += RecordHash.of(left, right);
        }
      }
      group.clear();
    }

    /** Of a pair as the join has to give it; 0, which changes no sum, of anything else. */
    private static long hash(BytesWritable key, TupleWritable sides) {
      if (sides.size() != 2 || !sides.has(0) || !sides.has(1)) {
        return 0;
      }
      return RecordHash.of(side(key, sides.get(0)), side(key, sides.get(1)));
    }

    private static long side(BytesWritable key, Writable value) {
      return RecordHash.of(key, (BytesWritable) value);
    }

    @Override
    protected void cleanup(Context context) {
      join();
      context.getCounter(sorted ? Expected.RECORDS : Joined.RECORDS).increment(pairs);
      context.getCounter(sorted ? Expected.HASHES : Joined.HASHES).increment(hashes);
      if (sorted) {
        context.getCounter(Sorted.RECORDS).increment(records);
        context.getCounter(Sorted.BYTES).increment(bytes);
        context.getCounter(Sorted.DISORDER).increment(disorder);
      }
    }
  }
}
