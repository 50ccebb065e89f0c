package org.howdah.sort;

import org.apache.hadoop.mapred.JobConf;

/**
 * Tells which combiners can be folded. Found by {@link java.util.ServiceLoader} on the class path
 * of the task; asked once per map.
 */
public interface FoldProvider {
  /**
   * The fold that gives, for every order of its values, what the combiner {@code combiner} of this
   * job gives for a key, or null where this provider knows none. The combiner must do nothing else:
   * no counters, no other keys.
   */
  Fold foldOf(Class<?> combiner, JobConf job);
}
