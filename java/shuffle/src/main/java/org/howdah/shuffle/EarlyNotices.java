package org.howdah.shuffle;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;

/**
 * Tells the application master early of maps whose host does not answer. For Hadoop's fetchers that
 * is a failure only when the time to connect, three minutes, is over; until then no map of a node
 * that is gone runs again. A notice is no failure: the fetcher goes on waiting.
 *
 * <p>The master takes each map that it runs again for one that failed, and four of these, or as
 * many as the job allows, fail the job. A reduce from whose host no other can be reached must not
 * bring that about: it gives so few notices that all reduces together have one attempt of a map
 * given up, and none where fewer than two would be left; and no later attempt of a reduce gives
 * any. Nor is any given where fetches are to be retried, as they are by default where NodeManagers
 * keep their outputs over a restart.
 */
final class EarlyNotices {
  private static final int LEAST_LEFT = 2;
  // Each application master numbers attempts from another thousand on.
  private static final int ATTEMPTS_OF_A_MASTER = 1000;

  private final TaskStatus status;
  private final long everyMs;
  private final int most;
  private final int mapAttempts;
  private final Map<TaskID, Integer> given = new HashMap<>();

  EarlyNotices(ShuffleConsumerPlugin.Context<?, ?> context, boolean retries, long everyMs) {
    status = context.getStatus();
    this.everyMs = everyMs;
    JobConf job = context.getJobConf();
    int needed =
        job.getInt(
            MRJobConfig.MAX_FETCH_FAILURES_NOTIFICATIONS,
            MRJobConfig.DEFAULT_MAX_FETCH_FAILURES_NOTIFICATIONS);
    int reduces = Math.max(1, job.getNumReduceTasks());
    mapAttempts = job.getMaxMapAttempts();
    boolean isFirst = context.getReduceId().getId() == 0;
    most = isFirst && !retries ? Math.max(1, (needed + reduces - 1) / reduces) : 0;
  }

  long everyMs() {
    return everyMs;
  }

  /** The host of {@code maps} has been silent for so long. Called one at a time. */
  void silent(Collection<TaskAttemptID> maps, long silentMs) {
    long due = Math.min(most, silentMs / everyMs);
    for (TaskAttemptID map : maps) {
      if (left(map) < LEAST_LEFT) {
        continue;
      }
      int told = given.getOrDefault(map.getTaskID(), 0);
      if (told < due) {
        given.put(map.getTaskID(), told + 1);
        status.addFetchFailedMap((org.apache.hadoop.mapred.TaskAttemptID) map);
      }
    }
  }

  /** How many attempts may follow this one of a map, if all before have failed. */
  private int left(TaskAttemptID map) {
    return mapAttempts - 1 - map.getId() % ATTEMPTS_OF_A_MASTER;
  }
}
