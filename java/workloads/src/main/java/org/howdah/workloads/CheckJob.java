package org.howdah.workloads;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/** The job of a check: maps alone, which read files and say what they found as counters. */
final class CheckJob {
  private CheckJob() {}

  static Job of(
      Configuration conf,
      String name,
      Class<? extends InputFormat<?, ?>> files,
      Class<? extends Mapper<?, ?, NullWritable, NullWritable>> reader,
      String... directories)
      throws IOException {
    Job job = Job.getInstance(conf, name);
    job.setJarByClass(CheckJob.class);
    job.setInputFormatClass(files);
    job.setMapperClass(reader);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(NullWritable.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    for (String directory : directories) {
      FileInputFormat.addInputPath(job, new Path(directory));
    }
    return job;
  }
}
