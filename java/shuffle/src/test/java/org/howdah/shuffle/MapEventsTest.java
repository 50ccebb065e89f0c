package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the application master says of maps decides whose outputs a reduce has. */
class MapEventsTest extends ReduceFixture {
  @ParameterizedTest
  @EnumSource(
      value = TaskCompletionEvent.Status.class,
      names = {"OBSOLETE", "KILLED", "FAILED"})
  void anAttemptThatIsNoLongerGoodIsNotAskedFor(TaskCompletionEvent.Status how) throws Exception {
    TaskAttemptID lost = Segments.map(3);
    TaskAttemptID again = Segments.map(3, 1);
    server.segments.remove(lost.toString());
    output(again);
    event(lost, how, "");
    succeeded(again, server.url());
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(server.asked).contains(again.toString()).doesNotContain(lost.toString());
  }

  @Test
  void anAttemptThatFailsAndIsLostLaterIsReplaced() throws Exception {
    TaskAttemptID lost = Segments.map(3);
    TaskAttemptID again = Segments.map(3, 1);
    server.answer =
        (request, maps) -> {
          boolean isLost = maps.contains(lost.toString());
          if (isLost && maps.size() == 1 && !server.segments.containsKey(again.toString())) {
            output(again);
            event(lost, TaskCompletionEvent.Status.OBSOLETE, "");
            succeeded(again, server.url());
          }
          List<String> there = new ArrayList<>(maps);
          there.remove(lost.toString());
          server.all(request, there);
        };
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(new HashSet<>(status.failedMaps)).contains(lost);
  }

  @Test
  void aMapThatFailedForGoodIsNotWaitedFor() throws Exception {
    TaskAttemptID failed = Segments.map(MAPS - 1);
    events.remove(MAPS - 1);
    event(failed, TaskCompletionEvent.Status.TIPFAILED, "");
    expected.removeAll(Segments.keys(MAPS - 1, 200));
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(server.asked).doesNotContain(failed.toString());
  }

  @Test
  void ofTwoAttemptsOneIsTaken() throws Exception {
    for (int map = 0; map < MAPS; map++) {
      TaskAttemptID twin = Segments.map(map, 1);
      output(twin);
      succeeded(twin, map % 2 == 0 ? server.url() : server.url().replace("127.0.0.1", "localhost"));
    }
    assertThat(shuffle(job())).isEqualTo(expected);
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(MAPS);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(counted("BYTES")).isEqualTo(context.getReduceShuffleBytes().getValue());
  }

  @Test
  void whenAllEventsAreToBeReadAnewNoneIsLostAndNoneCountsTwice() throws Exception {
    TaskCompletionEvent last = events.remove(MAPS - 1);
    AtFirst first = new AtFirst(last);
    server.answer =
        (request, maps) -> {
          server.all(request, maps);
          first.answered(maps.size());
        };
    JobConf job = job();
    assertThat(shuffle(job)).isEqualTo(expected);
    assertThat(resets).isFalse();
    assertThat(context.getShuffledMapsCounter().getValue()).isEqualTo(MAPS);
  }

  /** When all but one map have been served, the master forgets what it said, and has the last. */
  private final class AtFirst {
    private final TaskCompletionEvent last;
    private int served;

    AtFirst(TaskCompletionEvent last) {
      this.last = last;
    }

    synchronized void answered(int maps) {
      served += maps;
      if (served == MAPS - 1) {
        // Another master has them in another order, and the new one first.
        synchronized (events) {
          Collections.reverse(events);
          events.add(0, last);
          resets = true;
        }
      }
    }
  }
}
