package org.howdah.sort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.Progressable;

/**
 * The records of several sorted sources as one, in order: a loser tree that compares prefixes, and
 * asks the comparator only where they are equal.
 */
public final class MergedRecords implements RawKeyValueIterator {
  // Each takes up to nine comparisons, of a merge of 500 files.
  private static final int PROGRESS_RECORDS = 1 << 6;

  private final RecordCursor[] cursors;
  private final KeyOrder order;
  private final RawComparator<?> comparator;
  private final long[] prefixes;
  private final boolean[] ended;
  // losers[0] is the winner; losers[node] is the cursor that lost at that node of the tree.
  private final int[] losers;
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private final Done done = new Done();
  private final Progressable progress;
  private final long totalBytes;
  private RecordCursor current;
  private boolean began;
  private boolean copies;
  private Throwable broken;
  private long bytes;
  private long records;

  /**
   * Merges {@code cursors}, of {@code totalBytes} together as far as is known: what progress is
   * measured against. Work on records is reported to {@code progress}.
   */
  public MergedRecords(
      List<? extends RecordCursor> cursors,
      KeyOrder order,
      RawComparator<?> comparator,
      long totalBytes,
      Progressable progress) {
    this.cursors = new ArrayList<>(cursors).toArray(new RecordCursor[0]);
    this.order = order;
    this.comparator = comparator;
    this.totalBytes = Math.max(1, totalBytes);
    this.progress = progress;
    this.prefixes = new long[this.cursors.length];
    this.ended = new boolean[this.cursors.length];
    this.losers = new int[Math.max(1, this.cursors.length)];
  }

  /** The cursor that is at the present record. */
  public RecordCursor current() {
    return current;
  }

  public long records() {
    return records;
  }

  /** After a failure there is no record any more, only the failure again. */
  @Override
  public boolean next() throws IOException {
    rethrow();
    try {
      return step();
    } catch (IOException | RuntimeException | Error failure) {
      broken = failure;
      throw failure;
    }
  }

  /**
   * Throws if a call of {@link #next} has failed: a combiner or a reduce may have caught that, and
   * gone on without the records that are missing.
   */
  public void rethrow() throws IOException {
    if (broken != null) {
      throw new IOException("records could not be read: " + broken, broken);
    }
  }

  private boolean step() throws IOException {
    if (!began) {
      begin();
    } else if (current != null) {
      int winner = losers[0];
      bytes += current.length();
      advance(winner);
      replay(winner);
    }
    if (cursors.length == 0 || ended[losers[0]]) {
      current = null;
      done.share = 1;
      return false;
    }
    current = cursors[losers[0]];
    current.complete();
    if (++records % PROGRESS_RECORDS == 0) {
      progress.progress();
      done.share = Math.min(1, bytes / (float) totalBytes);
    }
    return true;
  }

  private void begin() throws IOException {
    began = true;
    for (int cursor = 0; cursor < cursors.length; cursor++) {
      progress.progress();
      advance(cursor);
    }
    if (cursors.length > 0) {
      losers[0] = winnerBelow(1);
    }
  }

  /**
   * Plays the tree below {@code node}; its leaves are the numbers from the number of cursors on.
   */
  private int winnerBelow(int node) {
    if (node >= cursors.length) {
      return node - cursors.length;
    }
    int left = winnerBelow(2 * node);
    int right = winnerBelow(2 * node + 1);
    progress.progress();
    boolean leftWins = isBefore(left, right);
    losers[node] = leftWins ? right : left;
    return leftWins ? left : right;
  }

  private void advance(int cursor) throws IOException {
    RecordCursor one = cursors[cursor];
    if (one.next()) {
      prefixes[cursor] = order.prefix(one.data, one.keyStart, one.keyLength);
    } else {
      ended[cursor] = true;
      prefixes[cursor] = -1;
      one.close();
    }
  }

  private void replay(int from) {
    int winner = from;
    long prefix = prefixes[winner] + Long.MIN_VALUE;
    for (int node = (from + cursors.length) >>> 1; node > 0; node >>>= 1) {
      int other = losers[node];
      long otherPrefix = prefixes[other] + Long.MIN_VALUE;
      if (otherPrefix < prefix || otherPrefix == prefix && tieIsBefore(other, winner)) {
        losers[node] = winner;
        winner = other;
        prefix = otherPrefix;
      }
    }
    losers[0] = winner;
  }

  private boolean isBefore(int one, int other) {
    long prefix = prefixes[one] + Long.MIN_VALUE;
    long otherPrefix = prefixes[other] + Long.MIN_VALUE;
    return prefix < otherPrefix || prefix == otherPrefix && tieIsBefore(one, other);
  }

  /** Equal keys come in the order of the cursors. */
  private boolean tieIsBefore(int one, int other) {
    if (ended[one] || ended[other]) {
      return !ended[one];
    }
    if (order.kind() == KeyOrder.Kind.NUMBER) {
      return one < other;
    }
    RecordCursor left = cursors[one];
    RecordCursor right = cursors[other];
    int compared =
        comparator.compare(
            left.data, left.keyStart, left.keyLength, right.data, right.keyStart, right.keyLength);
    return compared < 0 || compared == 0 && one < other;
  }

  /**
   * Has every key and value begin at the first byte of its array from now on: Hadoop's old
   * interface takes the end of a value for its length, which only then is right for those who look
   * at it.
   */
  public void copyEach() {
    copies = true;
  }

  @Override
  public DataInputBuffer getKey() {
    return give(key, current.keyStart, current.keyLength);
  }

  @Override
  public DataInputBuffer getValue() {
    return give(value, current.valueStart(), current.valueLength);
  }

  private DataInputBuffer give(DataInputBuffer to, int start, int length) {
    if (copies) {
      byte[] held = to.getData();
      byte[] copy = held != null && held.length >= length ? held : new byte[capacity(length)];
      System.arraycopy(current.data, start, copy, 0, length);
      to.reset(copy, 0, length);
    } else {
      to.reset(current.data, start, length);
    }
    return to;
  }

  /** Bytes of an array for values of {@code length} and somewhat longer ones. */
  static int capacity(int length) {
    return (int) Math.min(Integer.MAX_VALUE - 8, Math.max(64, 2L * length));
  }

  @Override
  public Progress getProgress() {
    return done;
  }

  @Override
  public void close() throws IOException {
    for (RecordCursor cursor : cursors) {
      cursor.close();
    }
  }

  /** Asked for once per record by Hadoop's reduce loop: without the locks of Hadoop's own. */
  private static final class Done extends Progress {
    private volatile float share;

    @Override
    public float get() {
      return share;
    }

    @Override
    public float getProgress() {
      return share;
    }
  }
}
