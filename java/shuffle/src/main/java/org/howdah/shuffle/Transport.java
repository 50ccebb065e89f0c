package org.howdah.shuffle;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;

/**
 * A way to the outputs of maps. A fetcher has transports of its own, and asks them one after the
 * other, each for what those before it left; what the last one cannot get is a failure that Hadoop
 * hears of.
 */
interface Transport<K, V> {
  /** What takes the outputs. */
  interface Receiver<K, V> {
    /** False when the shuffle ends. */
    boolean wantsMore();

    /** Takes an output that is whole and whose checksum is right; its fetching began then. */
    void receive(Fetched<K, V> output, long beganMs) throws IOException;
  }

  /** The end of the name of the counter of the outputs that came by it, {@code SEGMENTS_…}. */
  String name();

  /**
   * Gets outputs of {@code maps}, which all ran on {@code host}, and gives each of them to {@code
   * to} once, in any order. The set is lent, and may be changed. An output that is damaged, or
   * shorter than an empty one, is never given.
   *
   * @throws FetchFailure if it cannot go on; what it has not given is left
   */
  void fetch(MapHost host, Set<TaskAttemptID> maps, Receiver<K, V> to) throws FetchFailure;

  /** Frees the fetcher's thread from what it waits for; called by another thread, at the end. */
  void disconnect();
}
