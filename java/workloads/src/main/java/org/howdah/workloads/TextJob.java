package org.howdah.workloads;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * The job of a generator of text files: maps alone, each with its share of the numbers from 0 to a
 * total.
 */
final class TextJob {
  private TextJob() {}

  /**
   * A job that gives every block of {@link RangeInputFormat} to {@code blocks}, which writes it as
   * one record.
   */
  static Job of(
      Configuration conf,
      String name,
      long total,
      long block,
      Class<? extends Mapper<LongWritable, LongWritable, NullWritable, Text>> blocks,
      String directory)
      throws IOException {
    RangeInputFormat.configure(conf, total, block);
    Job job = Job.getInstance(conf, name);
    job.setJarByClass(TextJob.class);
    job.setInputFormatClass(RangeInputFormat.class);
    job.setMapperClass(blocks);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    job.setOutputFormatClass(TextOutputFormat.class);
    FileOutputFormat.setOutputPath(job, new Path(directory));
    return job;
  }

  /**
   * Runs a job to its end, and prints {@code generated NAME NUMBER} for each of {@code counters}: a
   * job that runs in its client has no history that could be asked. Returns an exit code.
   */
  static int run(Job job, Enum<?>... counters)
      throws IOException, InterruptedException, ClassNotFoundException {
    if (!job.waitForCompletion(true)) {
      return 1;
    }
    for (Enum<?> counter : counters) {
      long number = job.getCounters().findCounter(counter).getValue();
      System.out.println("generated " + counter + " " + number);
    }
    return 0;
  }
}
