package org.howdah.filesystem;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsLogging;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/**
 * What one stream counts, as Hadoop's statistics want it. Hadoop's own store wakes other threads to
 * copy its few numbers when a stream is closed, which takes longer than to open the file.
 */
final class StreamCounters implements IOStatistics {
  private final Map<String, AtomicLong> counters = new LinkedHashMap<>();

  StreamCounters(String... names) {
    for (String name : names) {
      counters.put(name, new AtomicLong());
    }
  }

  /** The counter of a name that this was made with. */
  AtomicLong of(String name) {
    return counters.get(name);
  }

  @Override
  public Map<String, Long> counters() {
    Map<String, Long> now = new LinkedHashMap<>();
    counters.forEach((name, counter) -> now.put(name, counter.get()));
    return Collections.unmodifiableMap(now);
  }

  @Override
  public Map<String, Long> gauges() {
    return Collections.emptyMap();
  }

  @Override
  public Map<String, Long> minimums() {
    return Collections.emptyMap();
  }

  @Override
  public Map<String, Long> maximums() {
    return Collections.emptyMap();
  }

  @Override
  public Map<String, MeanStatistic> meanStatistics() {
    return Collections.emptyMap();
  }

  @Override
  public String toString() {
    return IOStatisticsLogging.ioStatisticsToString(this);
  }
}
