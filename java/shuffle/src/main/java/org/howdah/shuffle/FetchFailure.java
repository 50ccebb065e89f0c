package org.howdah.shuffle;

import java.io.IOException;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** Why a transport could not go on. */
final class FetchFailure extends IOException {
  private static final long serialVersionUID = 1;

  /** What is to be done about it depends on this. */
  enum Kind {
    /** Nobody answers, maybe not yet. */
    UNANSWERED,
    /** The host serves as many as it can, and asks to come again. */
    BUSY,
    /** What answers does not serve these maps. */
    REFUSED,
    /** The answer is not what was asked for. */
    WRONG,
    /** An output was not read to its end, or is damaged; it can be asked for again. */
    UNREAD,
    /** This node cannot hold an output, for want of room or of a file, which is no map's fault. */
    LOCAL
  }

  /** The errors that Hadoop counts, under its names. */
  enum Errors {
    IO_ERROR,
    WRONG_LENGTH,
    BAD_ID,
    WRONG_MAP,
    /** Always 0, in Hadoop as here. */
    CONNECTION,
    WRONG_REDUCE
  }

  private final Kind kind;
  private final Errors error;
  private final transient TaskAttemptID map;
  private final long backoffMs;

  private FetchFailure(
      Kind kind, Errors error, TaskAttemptID map, long backoffMs, String what, IOException cause) {
    super(what, cause);
    this.kind = kind;
    this.error = error;
    this.map = map;
    this.backoffMs = backoffMs;
  }

  static FetchFailure of(Kind kind, IOException cause) {
    return new FetchFailure(kind, Errors.IO_ERROR, null, 0, cause.toString(), cause);
  }

  static FetchFailure busy(long backoffMs) {
    return new FetchFailure(Kind.BUSY, Errors.IO_ERROR, null, backoffMs, "too many to serve", null);
  }

  /** {@code map} is null where nothing can be said of any map. */
  static FetchFailure wrong(Errors error, TaskAttemptID map, String what) {
    return new FetchFailure(Kind.WRONG, error, map, 0, error + ": " + what, null);
  }

  /** {@code map} is null where it is not known which one it was. */
  static FetchFailure unread(TaskAttemptID map, IOException cause) {
    return new FetchFailure(Kind.UNREAD, Errors.IO_ERROR, map, 0, cause.toString(), cause);
  }

  Kind kind() {
    return kind;
  }

  Errors error() {
    return error;
  }

  /** The map whose output it is about; null if that is any of those asked for. */
  TaskAttemptID map() {
    return map;
  }

  /** How long a host that is busy wants to be left alone. */
  long backoffMs() {
    return backoffMs;
  }
}
