package org.howdah.shuffle;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.util.Time;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Map outputs from the NodeManager of their node, over Hadoop's own protocol. */
final class HttpOutputs<K, V> implements Transport<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(HttpOutputs.class);

  private final MapOutputs<K, V> outputs;
  private final MapServer server;
  private final int reduce;

  /** {@code tls} is null where outputs are served without. */
  HttpOutputs(MapOutputs<K, V> outputs, Tls tls) {
    this.outputs = outputs;
    server =
        new MapServer(
            outputs.context().getJobConf(),
            outputs.context().getReduceTask().getShuffleSecret(),
            tls);
    reduce = outputs.context().getReduceId().getTaskID().getId();
  }

  @Override
  public String name() {
    return "HTTP";
  }

  @Override
  public void disconnect() {
    server.end();
  }

  @Override
  public void fetch(MapHost host, Set<TaskAttemptID> maps, Receiver<K, V> to) throws FetchFailure {
    DataInputStream in;
    try {
      in = server.open(host, maps);
      while (!maps.isEmpty() && to.wantsMore()) {
        next(host, in, maps, to);
      }
    } catch (FetchFailure failure) {
      // What else the answer has is not wanted, and nobody is to wait for it.
      server.disconnect();
      throw failure;
    }
    try {
      in.close();
    } catch (IOException late) {
      LOG.debug("After all that was asked for", late);
    }
  }

  /** Takes the next output of an answer. */
  private void next(MapHost host, DataInputStream in, Set<TaskAttemptID> maps, Receiver<K, V> to)
      throws FetchFailure {
    TaskAttemptID map = null;
    Fetched<K, V> output = null;
    try {
      long began = Time.monotonicNow();
      MapServer.Announced announced = MapServer.Announced.read(in);
      map = expected(announced, maps);
      output = outputs.place(map, announced.partLength, announced.rawLength);
      output.shuffle(
          host,
          in,
          announced.partLength,
          announced.rawLength,
          null,
          outputs.context().getReporter());
      to.receive(output, began);
      maps.remove(map);
    } catch (FetchFailure known) {
      throw known;
    } catch (IOException failure) {
      if (output != null) {
        output.abort();
      }
      throw FetchFailure.unread(map, failure);
    }
  }

  /** The map whose output is announced, if that is one of {@code maps} and can be an output. */
  private TaskAttemptID expected(MapServer.Announced announced, Set<TaskAttemptID> maps)
      throws FetchFailure {
    TaskAttemptID map;
    try {
      map = TaskAttemptID.forName(announced.map);
    } catch (IllegalArgumentException bad) {
      throw FetchFailure.wrong(FetchFailure.Errors.BAD_ID, null, announced.map);
    }
    FetchFailure.Errors wrong = null;
    if (!outputs.isPossible(announced.partLength, announced.rawLength)) {
      wrong = FetchFailure.Errors.WRONG_LENGTH;
    } else if (announced.reduce != reduce) {
      wrong = FetchFailure.Errors.WRONG_REDUCE;
    } else if (!maps.contains(map)) {
      wrong = FetchFailure.Errors.WRONG_MAP;
    }
    if (wrong != null) {
      String what =
          String.format(
              "the output of %s, %d bytes in %d, for reduce %d",
              map, announced.rawLength, announced.partLength, announced.reduce);
      throw FetchFailure.wrong(wrong, maps.contains(map) ? map : null, what);
    }
    return map;
  }
}
