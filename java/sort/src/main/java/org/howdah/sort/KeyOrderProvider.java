package org.howdah.sort;

import org.apache.hadoop.io.RawComparator;

/**
 * Tells the order of key types that Howdah does not know. Found by {@link java.util.ServiceLoader}
 * on the class path of the task; asked once per task.
 */
public interface KeyOrderProvider {
  /**
   * The order of keys of {@code keyClass} under {@code comparator}, or null where this provider
   * does not know it. It must agree with the comparator for every pair of keys: a wrong order gives
   * a wrong result.
   */
  KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator);
}
