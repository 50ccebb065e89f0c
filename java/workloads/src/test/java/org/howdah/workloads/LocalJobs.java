package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;

/** Jobs that run in this JVM. */
final class LocalJobs {
  private LocalJobs() {}

  static Configuration settings() {
    Configuration conf = new Configuration();
    // Hadoop asks every five seconds whether a job has ended.
    conf.setInt(Job.COMPLETION_POLL_INTERVAL_KEY, 10);
    return conf;
  }

  /** The counters of a job that succeeds. */
  static Counters run(Job job) throws Exception {
    assertThat(job.waitForCompletion(false)).isTrue();
    return job.getCounters();
  }

  static long count(Counters counters, Enum<?> what) {
    return counters.findCounter(what).getValue();
  }
}
