package org.howdah.shuffle;

import java.io.IOException;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the application master which maps have completed, again and again, and tells the scheduler.
 */
final class MapEvents extends Worker {
  private static final Logger LOG = LoggerFactory.getLogger(MapEvents.class);
  private static final int WAIT_MS = 1000;
  private static final int RETRY_MS = 5000;
  private static final int MOST_FAILURES = 10;

  // As Hadoop's: many reduces that ask for many events at once would be too much for the master.
  private static final int MOST_EVENTS = 10_000;
  private static final int LEAST_EVENTS = 100;
  private static final int EVENTS_OF_ALL = 3_000_000;

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final ShuffleSchedulerImpl<?, ?> scheduler;
  private final TaskAttemptID reduce;
  private final int most;
  private int next;

  MapEvents(
      ShuffleConsumerPlugin.Context<?, ?> context,
      ShuffleSchedulerImpl<?, ?> scheduler,
      ExceptionReporter failed) {
    super("map events", failed);
    this.context = context;
    this.scheduler = scheduler;
    reduce = (TaskAttemptID) context.getReduceId();
    int reduces = Math.max(1, context.getJobConf().getNumReduceTasks());
    most = Math.min(MOST_EVENTS, Math.max(LEAST_EVENTS, EVENTS_OF_ALL / reduces));
  }

  @Override
  void work() throws IOException, InterruptedException {
    int failures = 0;
    while (!isStopped()) {
      try {
        while (ask() == most) {
          continue;
        }
        failures = 0;
        Thread.sleep(WAIT_MS);
      } catch (IOException failure) {
        if (++failures >= MOST_FAILURES) {
          throw new IOException(
              "the application master does not say which maps have completed", failure);
        }
        LOG.info("Events of maps could not be had", failure);
        Thread.sleep(RETRY_MS);
      }
    }
  }

  private int ask() throws IOException {
    MapTaskCompletionEventsUpdate update =
        context.getUmbilical().getMapCompletionEvents(reduce.getJobID(), next, most, reduce);
    if (update.shouldReset()) {
      // Where the events that came with this begin is not said: all are asked for again.
      next = 0;
      scheduler.resetKnownMaps();
      return 0;
    }
    TaskCompletionEvent[] events = update.getMapTaskCompletionEvents();
    next += events.length;
    for (TaskCompletionEvent event : events) {
      scheduler.resolve(event);
    }
    return events.length;
  }
}
