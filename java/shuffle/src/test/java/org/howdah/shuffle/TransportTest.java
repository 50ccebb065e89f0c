package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.howdah.sort.RecordCursor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every transport owes to the fetchers. */
@Timeout(60)
class TransportTest {
  private static final int MAPS = 6;
  private static final byte END = -1;

  /** The transports; a new one has its outputs where the others have theirs, or beside them. */
  enum Kind {
    DIRECT {
      @Override
      Transport<Text, Text> of(MapOutputs<Text, Text> outputs) {
        return new DirectOutputs<>(outputs, "127.0.0.1");
      }
    },
    HTTP {
      @Override
      Transport<Text, Text> of(MapOutputs<Text, Text> outputs) {
        return new HttpOutputs<>(outputs, null);
      }
    };

    abstract Transport<Text, Text> of(MapOutputs<Text, Text> outputs);
  }

  @TempDir Path directory;

  private final MapOutputServer server = new MapOutputServer();
  private final Set<TaskAttemptID> maps = new LinkedHashSet<>();
  private JobConf job;
  private CompressionCodec codec;
  private MapOutputs<Text, Text> outputs;

  @BeforeEach
  void serve() throws IOException {
    server.start();
    job = Segments.job(directory, MAPS);
    for (int map = 0; map < MAPS; map++) {
      maps.add(Segments.map(map));
    }
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  /** Has the outputs of all maps where every transport finds them. */
  private void write() throws IOException {
    for (int map = 0; map < MAPS; map++) {
      List<String> keys = Segments.keys(map, 50 * map);
      put(map, Segments.bytes(keys, codec), Segments.rawLength(keys));
    }
  }

  private void put(int map, byte[] segment, long rawLength) throws IOException {
    server.put(Segments.map(map), segment, rawLength);
    String name = Segments.map(map).toString();
    ReduceFixture.onThisNode(job, directory, name, segment, rawLength);
  }

  /** Takes so many outputs, and has each read to its end. */
  private final class Taker implements Transport.Receiver<Text, Text> {
    private final int most;
    private final Map<Integer, List<String>> taken = new HashMap<>();

    Taker(int most) {
      this.most = most;
    }

    @Override
    public boolean wantsMore() {
      return taken.size() < most;
    }

    @Override
    public void receive(Fetched<Text, Text> output, long beganMs) throws IOException {
      List<String> keys = new ArrayList<>();
      int map = output.getMapId().getTaskID().getId();
      assertThat(taken.put(map, keys)).as("an output that comes twice").isNull();
      RecordCursor records = output.cursor(1 << 14);
      while (records.next()) {
        // Of Text, the length is one byte here.
        keys.add(new String(records.data(), records.keyStart() + 1, records.keyLength() - 1));
      }
    }
  }

  private Map<Integer, List<String>> fetch(Kind kind, int most) throws IOException {
    outputs = new MapOutputs<>(Segments.context(job, new Segments.Counting(), codec, null, null));
    String address = server.url().substring("http://".length());
    String asked = server.url() + "/mapOutput?job=job_1_0001&reduce=0&map=";
    Taker taker = new Taker(most);
    try {
      kind.of(outputs).fetch(new MapHost(address, asked), new LinkedHashSet<>(maps), taker);
    } catch (FetchFailure given) {
      assertThat(given.kind()).isIn(FetchFailure.Kind.UNREAD, FetchFailure.Kind.WRONG);
      assertThat(taker.taken).doesNotContainKey(idOf(given));
    }
    return taker.taken;
  }

  private static int idOf(FetchFailure failure) {
    return failure.map() == null ? -1 : failure.map().getTaskID().getId();
  }

  private static Map<Integer, List<String>> written() {
    Map<Integer, List<String>> written = new HashMap<>();
    for (int map = 0; map < MAPS; map++) {
      written.put(map, Segments.keys(map, 50 * map));
    }
    return written;
  }

  @ParameterizedTest
  @EnumSource
  void itGivesEveryOutputOnceAsItWasWritten(Kind kind) throws IOException {
    write();
    assertThat(fetch(kind, MAPS)).isEqualTo(written());
    // Where there is no memory, in files.
    job.setLong("mapreduce.reduce.memory.totalbytes", 100);
    assertThat(fetch(kind, MAPS)).isEqualTo(written());
  }

  // Promise (how-to/accelerate): Compressed map outputs work, read directly or over HTTP
  @ParameterizedTest
  @EnumSource
  void itGivesCompressedOnes(Kind kind) throws IOException {
    GzipCodec gzip = new GzipCodec();
    gzip.setConf(job);
    codec = gzip;
    itGivesEveryOutputOnceAsItWasWritten(kind);
  }

  @ParameterizedTest
  @EnumSource
  void itAsksForNoMoreThanIsWanted(Kind kind) throws IOException {
    write();
    assertThat(fetch(kind, 2)).hasSize(2);
    maps.remove(Segments.map(1));
    assertThat(fetch(kind, MAPS)).hasSize(MAPS - 1).doesNotContainKey(1);
    maps.clear();
    maps.add(Segments.map(3));
    assertThat(fetch(kind, MAPS)).containsOnlyKeys(3);
  }

  @ParameterizedTest
  @EnumSource
  void itNeverGivesADamagedOne(Kind kind) throws IOException {
    write();
    byte[] whole = server.segments.get(Segments.map(4).toString());
    long rawLength = server.rawLengths.get(Segments.map(4).toString());
    List<byte[]> damaged = new ArrayList<>();
    for (int at = 0; at < whole.length; at += 97) {
      damaged.add(Segments.changed(whole, at));
    }
    damaged.add(Segments.changed(whole, whole.length - 1));
    damaged.add(Arrays.copyOf(whole, whole.length - 1));
    damaged.add(Arrays.copyOf(whole, whole.length / 2));
    damaged.add(new byte[0]);
    for (long memory : new long[] {1 << 20, 100}) {
      job.setLong("mapreduce.reduce.memory.totalbytes", memory);
      for (byte[] one : damaged) {
        put(4, one, rawLength);
        assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
      }
    }
    put(4, whole, rawLength);
    assertThat(fetch(kind, MAPS)).containsKey(4);
  }

  @Test
  void anOutputThatIsAnnouncedForAnotherReduceIsNotGiven() throws IOException {
    write();
    String wrong = Segments.map(4).toString();
    server.answer =
        (request, asked) -> {
          DataOutputStream out = MapOutputServer.begin(request);
          for (String map : asked) {
            byte[] segment = server.segments.get(map);
            long rawLength = server.rawLengths.get(map);
            MapOutputServer.send(out, map, segment, rawLength, map.equals(wrong) ? 1 : 0);
          }
          out.flush();
        };
    assertThat(fetch(Kind.HTTP, MAPS)).containsKey(3).doesNotContainKey(4);
  }

  @ParameterizedTest
  @EnumSource
  void nothingButTheMarkOfTheEndIsEmpty(Kind kind) throws IOException {
    write();
    for (long memory : new long[] {1 << 20, 1}) {
      job.setLong("mapreduce.reduce.memory.totalbytes", memory);
      put(4, Segments.summed(END, END), 2);
      assertThat(fetch(kind, MAPS)).containsEntry(4, Collections.emptyList());
      put(4, new byte[0], 0);
      assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
      put(4, Segments.summed(), 0);
      assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
      put(4, Segments.summed(END), 1);
      assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
      put(4, Segments.summed(END, (byte) 0), 2);
      assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
      // A record, but no end.
      put(4, Segments.summed((byte) 1, (byte) 0, (byte) 65), 3);
      assertThat(fetch(kind, MAPS)).doesNotContainKey(4);
    }
  }
}
