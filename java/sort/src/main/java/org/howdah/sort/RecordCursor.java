package org.howdah.sort;

import java.io.Closeable;
import java.io.IOException;

/** Records in the order of their keys, one at a time, where they lie. */
public abstract class RecordCursor implements Closeable {
  /** What holds the record; another array, or another place in it, after each {@link #next}. */
  protected byte[] data;

  /** Where the record begins, with the lengths of its key and value. */
  protected int start;

  protected int keyStart;
  protected int keyLength;
  protected int valueLength;

  /** Goes to the next record; false after the last. */
  public abstract boolean next() throws IOException;

  /** Makes the value of the record be there, too; until then only its key has to be. */
  void complete() throws IOException {}

  @Override
  public void close() throws IOException {}

  public final byte[] data() {
    return data;
  }

  public final int keyStart() {
    return keyStart;
  }

  public final int keyLength() {
    return keyLength;
  }

  public final int valueStart() {
    return keyStart + keyLength;
  }

  public final int valueLength() {
    return valueLength;
  }

  final int start() {
    return start;
  }

  /** The bytes of the record, with the lengths of its key and value. */
  public final int length() {
    return keyStart + keyLength + valueLength - start;
  }
}
